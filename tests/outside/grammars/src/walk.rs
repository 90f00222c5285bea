//! Random strings of a grammar in GBNF, as `ChatTemplate::grammar` prints it.

use std::collections::HashMap;

/// The largest number of bytes of a string.
const MAX_BYTES: usize = 4000;

/// A part of a rule.
enum Part {
    Text(String),
    /// Ranges of characters. The second field is whether the class is negated.
    Class(Vec<(char, char)>, bool),
    Rule(String),
    Choice(Vec<Vec<Part>>),
    Repeat(Box<Part>, usize, usize),
}

/// A grammar whose rules are parsed.
pub struct Grammar {
    rules: HashMap<String, Part>,
    /// The smallest number of steps to the end of each rule.
    costs: HashMap<String, usize>,
    state: u64,
}

impl Grammar {
    pub fn new(source: &str, seed: u64) -> Self {
        let rules: HashMap<String, Part> = source
            .lines()
            .map(|line| {
                let (name, body) = line.split_once(" ::= ").expect("a line is a rule");
                let chars: Vec<char> = body.chars().collect();
                let mut at = 0;
                (name.to_owned(), Part::Choice(read_choices(&chars, &mut at)))
            })
            .collect();
        let mut grammar = Self {
            costs: rules.keys().map(|name| (name.clone(), usize::MAX)).collect(),
            rules,
            state: seed | 1,
        };
        loop {
            let found: HashMap<String, usize> = grammar
                .rules
                .iter()
                .map(|(name, rule)| (name.clone(), grammar.cost(rule)))
                .collect();
            if found == grammar.costs {
                return grammar;
            }
            grammar.costs = found;
        }
    }

    fn cost(&self, part: &Part) -> usize {
        match part {
            Part::Text(_) | Part::Class(..) => 1,
            Part::Rule(name) => self.costs[name].saturating_add(1),
            Part::Choice(choices) => choices.iter().map(|items| self.cost_all(items)).min().unwrap_or(usize::MAX),
            Part::Repeat(item, min, _) => {
                if *min == 0 {
                    1
                } else {
                    self.cost(item).saturating_mul(*min)
                }
            }
        }
    }

    fn cost_all(&self, items: &[Part]) -> usize {
        items.iter().fold(0, |sum, item| sum.saturating_add(self.cost(item)))
    }

    /// Returns a number below a limit.
    fn random(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % limit.max(1)
    }

    /// Returns a random string, or `None` if it becomes long.
    pub fn walk(&mut self) -> Option<String> {
        let mut out = String::new();
        let rules = std::mem::take(&mut self.rules);
        let done = self.write(&rules["root"], &rules, &mut out);
        self.rules = rules;
        done.then_some(out)
    }

    fn write(&mut self, part: &Part, rules: &HashMap<String, Part>, out: &mut String) -> bool {
        if out.len() > MAX_BYTES {
            return false;
        }
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Class(ranges, is_negated) => {
                let outside = |char: char| !ranges.iter().any(|(first, last)| (*first..=*last).contains(&char));
                let char = if *is_negated {
                    let some: Vec<char> = " \n\"'<>/{}[]:,\\azAZ09é→\u{1f600}"
                        .chars()
                        .filter(|char| outside(*char))
                        .collect();
                    some[self.random(some.len())]
                } else {
                    let (first, last) = ranges[self.random(ranges.len())];
                    let count = (first..=last).take(64).count();
                    (first..=last).nth(self.random(count)).unwrap_or(first)
                };
                out.push(char);
            }
            Part::Rule(name) => return self.write(&rules[name], rules, out),
            Part::Choice(choices) => {
                let costs: Vec<usize> = choices.iter().map(|items| self.cost_all(items)).collect();
                let shortest = costs
                    .iter()
                    .min()
                    .and_then(|least| costs.iter().position(|cost| cost == least))
                    .unwrap_or(0);
                // Long strings end soon.
                let index = if self.random(100) < 25 + out.len() / 10 {
                    shortest
                } else {
                    self.random(choices.len())
                };
                return choices[index].iter().all(|item| self.write(item, rules, out));
            }
            Part::Repeat(item, min, max) => {
                let most = (*max).min(min + 4);
                let count = min + self.random(most - min + 1);
                return (0..count).all(|_| self.write(item, rules, out));
            }
        }
        true
    }
}

fn read_choices(chars: &[char], at: &mut usize) -> Vec<Vec<Part>> {
    let mut choices = vec![Vec::new()];
    loop {
        match chars.get(*at) {
            None => return choices,
            Some(' ') => *at += 1,
            Some('|') => {
                *at += 1;
                choices.push(Vec::new());
            }
            Some(')') => {
                *at += 1;
                return choices;
            }
            Some(_) => {
                let part = read_part(chars, at);
                choices.last_mut().expect("there is one").push(part);
            }
        }
    }
}

fn read_part(chars: &[char], at: &mut usize) -> Part {
    let first = chars[*at];
    *at += 1;
    let part = match first {
        '(' => Part::Choice(read_choices(chars, at)),
        '"' => {
            let mut text = String::new();
            while chars[*at] != '"' {
                text.push(read_char(chars, at));
            }
            *at += 1;
            Part::Text(text)
        }
        '[' => {
            let is_negated = chars[*at] == '^';
            *at += usize::from(is_negated);
            let mut ranges = Vec::new();
            while chars[*at] != ']' {
                let first = read_char(chars, at);
                let last = if chars[*at] == '-' {
                    *at += 1;
                    read_char(chars, at)
                } else {
                    first
                };
                ranges.push((first, last));
            }
            *at += 1;
            Part::Class(ranges, is_negated)
        }
        first => {
            let mut name = String::from(first);
            while let Some(char) = chars.get(*at).filter(|char| char.is_ascii_alphanumeric()) {
                name.push(*char);
                *at += 1;
            }
            Part::Rule(name)
        }
    };
    let bounds = match chars.get(*at) {
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        Some('{') => {
            let end = *at + chars[*at..].iter().position(|char| *char == '}').expect("a count ends");
            let counts: String = chars[*at + 1..end].iter().collect();
            *at = end;
            let (min, max) = counts.split_once(',').expect("a count has two numbers");
            (min.parse().expect("a number"), max.parse().unwrap_or(usize::MAX))
        }
        _ => return part,
    };
    *at += 1;
    Part::Repeat(Box::new(part), bounds.0, bounds.1)
}

fn read_char(chars: &[char], at: &mut usize) -> char {
    let char = chars[*at];
    *at += 1;
    if char != '\\' {
        return char;
    }
    let escape = chars[*at];
    *at += 1;
    match escape {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'x' => {
            let code: String = chars[*at..*at + 2].iter().collect();
            *at += 2;
            u32::from_str_radix(&code, 16)
                .ok()
                .and_then(char::from_u32)
                .expect("two digits are a character")
        }
        other => other,
    }
}

//! The descriptions of cases: each is one sentence that can be read alone.
//!
//! ```text
//! "likewise at a comment"   ->   does not begin with a capital, does not end with a period, has no verb
//! ```

use chat_template_cli::conformance::Suite;

/// Words with which a sentence continues another one.
const CONTINUED: [&str; 12] = [
    "Also",
    "And",
    "But",
    "It",
    "Likewise",
    "Nor",
    "Or",
    "Otherwise",
    "So",
    "The same",
    "Then",
    "Unless",
];

/// Verbs that descriptions have, without the ending of the third person.
const VERBS: &str = "is are was has have had can cannot must do does accept add adjust align allow apply ask assign associate become begin belong bind break \
    call carry change check choose close collect come compare concatenate contain continue convert copy count cut decide depend differ double drop end \
    equal escape evaluate extend fail fill find fit follow forget get give go group hide hold ignore include join keep know leave look lose make mark \
    match mean meet mix multiply name need negate open order pad pass print put raise reach read refuse remove render repeat replace report return \
    reverse round run say scale search see set share shift show sort speak spell split start stay strip subtract suggest take tell truncate turn use \
    walk work wrap write";

/// Returns the words of a description in lower case, without code.
fn words(rule: &str) -> Vec<String> {
    let prose: String = rule.split('`').step_by(2).collect();
    let words = prose.split(|char: char| !char.is_ascii_alphabetic());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn is_verb(word: &str) -> bool {
    let stems = [
        word,
        word.strip_suffix('s').unwrap_or(word),
        word.strip_suffix("es").unwrap_or(word),
    ];
    let carries = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    VERBS
        .split_whitespace()
        .any(|verb| stems.contains(&verb) || carries.as_deref() == Some(verb))
}

#[test]
fn each_description_is_a_sentence_that_can_be_read_alone() {
    let suite = Suite::embedded().unwrap();
    let mut faults = Vec::new();
    let mut before = "";
    for case in &suite.cases {
        let rule = case.rule.as_str();
        let mut fault = |is: bool, what: &str| {
            if is {
                faults.push(format!("{}: {what}: {rule}", case.id));
            }
        };
        fault(
            !rule.starts_with(|char: char| char.is_uppercase() || char == '`'),
            "no capital",
        );
        fault(!rule.ends_with('.'), "no period");
        fault(rule.contains(". "), "two sentences");
        fault(rule == before, "the description of the case before it");
        let is_continued = CONTINUED
            .iter()
            .any(|start| rule.strip_prefix(start).is_some_and(|rest| rest.starts_with([' ', ','])));
        fault(is_continued, "a continuation");
        fault(!words(rule).iter().any(|word| is_verb(word)), "no verb");
        fault(words(rule).len() < 2, "no sentence");
        before = rule;
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

//! Judges media and the settings for reasoning by their effect: the prompt without them, and with others in their place.

use std::collections::BTreeMap;

use super::{Outcome, Search};
use crate::chat::Prompt;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::request::judge::Faults;
use crate::request::normal::Medium;
use crate::request::places::BodyPlace;
use crate::request::plan::{Plan, SettingForm, kind};
use crate::request::variables::LEVELS;
use crate::request::write::{MediaSet, Written, WrittenMedium};
use crate::trace::Keeps;

/// The most media that are judged, each by two renders. The others are lost as one of their group is.
const MOST_MEDIA: usize = 16;

/// The media of which a prompt has nothing.
#[derive(Clone, Default)]
pub struct LostMedia {
    pub faults: Faults,
    /// The groups of which media are lost, and those of which media are not.
    pub groups: MediaSet,
    kept: MediaSet,
}

impl LostMedia {
    fn add(&mut self, medium: &WrittenMedium, group: MediaSet, is_lost: bool) {
        if is_lost {
            self.faults.push((kind::MEDIUM, medium.place));
            self.groups |= group;
        } else {
            self.kept |= group;
        }
    }

    /// Returns whether a group has media of both kinds.
    pub fn is_mixed(&self) -> bool {
        self.groups & self.kept != 0
    }
}

impl<'b> Search<'_, 'b, '_> {
    /// Returns the media for which nothing is in the prompt. Each is judged alone: by the prompt without it and those after it, and by the
    /// prompt with a part of an unknown type in its place.
    pub fn find_lost_media(&mut self, prompt: &Prompt, written: &Written<'b>) -> LostMedia {
        let mut lost = LostMedia::default();
        let mut removed = BTreeMap::new();
        let mut last = prompt.text.clone();
        for medium in written.media.iter().take(MOST_MEDIA).rev() {
            let mut say = |parts: &BTreeMap<_, _>| self.say(&written.replace_parts(parts)).ok();
            let place = (medium.message, medium.part);
            removed.insert(place, None);
            let Some(without) = say(&removed) else {
                removed.remove(&place);
                continue;
            };
            let unknown = Data::Object(Object::new(vec![("type".into(), Data::Str("unknown".into()))]));
            let is_lost = without == last
                || say(&BTreeMap::from([(place, Some(unknown))])).as_ref() == Some(&prompt.text)
                    && !names_medium(&last, &without, medium.kind);
            last = without;
            lost.add(medium, written.group_of(medium), is_lost);
        }
        for medium in written.media.iter().skip(MOST_MEDIA) {
            let group = written.group_of(medium);
            lost.add(medium, group, lost.groups & group != 0);
        }
        lost
    }

    /// Gives an effort that the template does not know the name of the nearest one that it knows, and lets it know that there is reasoning
    /// if the effort has no effect else.
    pub(super) fn fit_settings(&mut self, current: &mut Outcome) {
        let variables = &self.request.variables;
        let plan = current.plan;
        if current.refusal.is_some() || !variables.has_settings() {
            return;
        }
        let is_refused = plan.settings == SettingForm::Dropped;
        let own = if is_refused { None } else { self.say_by(plan) };
        if let Some(level) = variables.level().filter(|_| variables.reads_effort()) {
            match self.find_effort(plan, level, own.as_deref()) {
                Some(settings) => self.keep_better(current, Plan { settings, ..plan }),
                None if is_refused => {}
                None => current.faults.push((kind::EFFORT, BodyPlace::BODY)),
            }
        }
        let is_switched = variables.path(kind::THINKING).is_some() && variables.has_switch();
        let settings = SettingForm::Inverted;
        if is_switched && !is_refused && self.say_by(Plan { settings, ..plan }) == own {
            current.faults.push((kind::THINKING, BodyPlace::BODY));
        }
    }

    /// Returns the settings with which an effort has an effect, or `None` if no effort has one.
    fn find_effort(&mut self, plan: Plan, level: usize, own: Option<&str>) -> Option<SettingForm> {
        let has_switch = self.request.variables.has_switch();
        for is_switched in [false, true].into_iter().filter(|is_switched| !is_switched || has_switch) {
            let form = |level| SettingForm::Level { level, is_switched };
            let with = |settings| Plan { settings, ..plan };
            let unknown = self.say_by(with(form(LEVELS.len())));
            if !is_switched && own != unknown.as_deref() {
                return Some(plan.settings);
            }
            let prompts: Vec<Option<String>> = (0..LEVELS.len()).map(|level| self.say_by(with(form(level)))).collect();
            let differs = |prompt: &Option<String>| prompt.is_some() && *prompt != unknown;
            let others = prompts.iter().filter(|prompt| differs(prompt)).flatten();
            let others: Vec<String> = others.map(|prompt| prompt.to_lowercase()).collect();
            // The effort of a branch for all other words has its own word in the prompt.
            let is_named = |word: &str, prompt: &Option<String>| {
                let names = |text: &String| text.contains(word);
                let has_word = prompt.as_ref().is_some_and(|prompt| names(&prompt.to_lowercase()));
                has_word && !others.is_empty() && !others.iter().any(names)
            };
            let known = LEVELS.iter().zip(&prompts).enumerate();
            let known = known.filter(|(_, (word, prompt))| differs(prompt) || is_named(word, prompt));
            let known: Vec<usize> = known.map(|(level, _)| level).collect();
            if known.contains(&level) {
                return Some(if is_switched { form(level) } else { plan.settings });
            }
            if level == 0 && has_switch {
                return Some(SettingForm::WithoutEffort);
            }
            let nearest = known.into_iter().min_by_key(|other| (level.abs_diff(*other), level > *other));
            if let Some(nearest) = nearest {
                return Some(form(nearest));
            }
        }
        None
    }

    /// Returns the prompt of a plan, unless the template refuses it.
    fn say_by(&mut self, plan: Plan) -> Option<String> {
        let written = self.request.write(&plan, self.meter).ok()?;
        let prompt = self.say(&written);
        prompt.map_err(|error| self.refuse(plan, error, &written)).ok()
    }

    /// Returns the prompt of what was written.
    fn say(&mut self, written: &Written<'b>) -> Result<String> {
        self.meter.charge_items(self.request.normal.values)?;
        self.renders = self.renders.saturating_add(1);
        let prompt = self.request.render(written, self.options, Keeps::Nothing, self.meter)?;
        Ok(prompt.text)
    }
}

/// Returns whether what a prompt has more than another one names a kind of media.
fn names_medium(text: &str, without: &str, kind: Medium) -> bool {
    let names: &[&str] = match kind {
        Medium::Image => &["image", "img", "vision", "picture"],
        Medium::Audio => &["audio", "sound", "speech"],
        Medium::Video => &["video", "frame"],
        Medium::File => &["file", "document", "pdf"],
    };
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let start = text.bytes().zip(without.bytes()).take_while(same).count();
    let end = text.bytes().rev().zip(without.bytes().rev()).take_while(same).count();
    // The beginning of a name can also be that of what follows.
    let around = start.saturating_sub(16)..text.len().saturating_sub(end).saturating_add(16).min(text.len()).max(start);
    let piece = String::from_utf8_lossy(text.as_bytes().get(around).unwrap_or_default()).to_lowercase();
    names.iter().any(|name| piece.contains(name))
}

//! The state of the evaluator: the variables of the frames that run, and the context of the template.
//!
//! Only the evaluator reads and writes these fields. They are part of the [`Heap`](super::Heap) because a built-in that draws items from
//! a loop with a condition calls the evaluator again and passes it only the [`Runtime`](super::Runtime). A shared cell in the evaluator
//! would cost a check at every access to a variable.

use std::ops::Range;

use super::Value;
use super::given::Given;
use crate::ast::Template;
use crate::error::{Error, Result};
use crate::meter::{Claim, Meter};
use crate::trace::InputMap;

/// The variables of the frames that run, and the context of the template.
#[derive(Debug, Default)]
pub struct Frames<'a> {
    /// The variables that the template is rendered with.
    pub input: Given<'a>,
    /// The template that is rendered.
    pub template: Option<&'a Template>,
    /// The variables of the context, by their symbols: those that the template has set at top level, and those that were looked up in the
    /// input and among the globals, each with what was found. The list ends with the last of them.
    pub context: Vec<Option<Option<Value<'a>>>>,
    /// The variables that no macro closes over. Each frame has a range of them.
    pub locals: Vec<Option<Value<'a>>>,
    /// The variables that macros close over. Each environment has a range of them.
    pub cells: Vec<Option<Value<'a>>>,
    /// The environments, by [`EnvironmentId`].
    pub environments: Vec<Environment>,
    /// The claim to the memory of variables and environments, and the number of variables that it covers.
    pub claim: Option<(Claim, usize)>,
    /// The places of the context's values in memory. An error names the value of the input that it is about by them.
    pub context_map: Option<Box<InputMap<'a>>>,
    /// The spans of `generation` blocks in code points, if the caller wants them.
    pub tracked: Option<Box<Tracked>>,
}

/// The spans of `generation` blocks as the reference counts them.
#[derive(Debug, Default)]
pub struct Tracked {
    /// The spans in code points, in the order in which the blocks ended.
    pub spans: Vec<Range<usize>>,
    /// The code points that the top level of the template has written in finished outputs.
    pub root_length: usize,
    /// The error of joining the top level's output, if part of it is not a string.
    pub refused: Option<Error>,
}

/// The number of variables that a render may have before their memory is claimed.
const UNCLAIMED: usize = 4096;

impl Frames<'_> {
    /// Claims the memory of the variables and the environments that exist.
    #[inline]
    pub fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        // An environment has half the size of a variable.
        let variables = self.locals.len() + self.cells.len();
        let room = variables + self.environments.len() / 2;
        match &self.claim {
            _ if room <= UNCLAIMED => Ok(()),
            Some((_, claimed)) if room <= *claimed => Ok(()),
            _ => self.claim_more(meter, room),
        }
    }

    #[cold]
    fn claim_more(&mut self, meter: &mut Meter<'_>, room: usize) -> Result<()> {
        let size = size_of::<Option<Value<'_>>>();
        let most = usize::try_from(meter.limits().value)
            .ok()
            .and_then(|bytes| bytes.checked_div(size));
        let claimed = room.saturating_mul(2).min(most.unwrap_or(usize::MAX)).max(room);
        self.claim = None;
        let claim = meter.claim(claimed.saturating_mul(size))?;
        self.claim = Some((claim, claimed));
        Ok(())
    }
}

/// The variables of one frame that macros close over.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// The index of the first variable in [`Frames::cells`].
    pub cells: usize,
    /// The environment of the enclosing frame.
    pub parent: Option<EnvironmentId>,
}

/// The index of an environment in [`Frames::environments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentId(pub u32);

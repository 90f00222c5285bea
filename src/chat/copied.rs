//! Copies what a call renders, if its strings share memory.

use super::ApplyOptions;
use crate::error::Result;
use crate::json::Data;
use crate::meter::{Claim, Meter};
use crate::template::{Input, copy};

/// A copy of what a call renders.
pub(super) struct CopiedInput {
    pub messages: Data<'static>,
    /// The tools, the documents and the variables.
    others: [Option<Data<'static>>; 3],
    _claims: Vec<Claim>,
}

impl CopiedInput {
    pub fn new(messages: &dyn Input, options: &ApplyOptions<'_>, meter: &Meter<'_>) -> Result<Self> {
        let (messages, mut claims) = copy(messages, options.prompt.render.clock, meter)?;
        let mut others = [None, None, None];
        for (place, given) in others.iter_mut().zip([options.tools, options.documents, options.variables]) {
            if let Some(given) = given {
                let (copied, more) = copy(given, options.prompt.render.clock, meter)?;
                *place = Some(copied);
                claims.extend(more);
            }
        }
        Ok(Self {
            messages,
            others,
            _claims: claims,
        })
    }

    /// Returns the options with the copies in place of the caller's values.
    pub fn options<'o>(&'o self, options: &ApplyOptions<'o>) -> ApplyOptions<'o> {
        let [tools, documents, variables] = self
            .others
            .each_ref()
            .map(|other| other.as_ref().map(|other| other as &dyn Input));
        ApplyOptions {
            tools,
            documents,
            variables,
            ..*options
        }
    }
}

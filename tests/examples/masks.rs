//! Answers requests for masks: a JSON object with spans and the offsets of tokens a line on standard input, and a mask a line on standard
//! output. `tests/reference/random_masks.py` compares the masks with those of transformers.

use std::io::{self, Read};

use chat_template::assistant_mask;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut requests = String::new();
    io::stdin().read_to_string(&mut requests)?;
    for line in requests.lines() {
        let mut request: Value = serde_json::from_str(line)?;
        let spans: Vec<(usize, usize)> = serde_json::from_value(request["spans"].take())?;
        let tokens: Vec<(usize, usize)> = serde_json::from_value(request["tokens"].take())?;
        let ranges = |pairs: Vec<(usize, usize)>| pairs.into_iter().map(|(start, end)| start..end).collect::<Vec<_>>();
        let answer = match assistant_mask(&ranges(spans), &ranges(tokens)) {
            Ok(mask) => json!({"mask": mask}),
            Err(error) => json!({"error": {"message": error.message()}}),
        };
        println!("{answer}");
    }
    Ok(())
}

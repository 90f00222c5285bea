//! Writes the mask of each line of standard input, which is a pair of the spans and the offsets of the tokens, both as pairs of numbers.
//! `tests/reference/random_masks.py` compares the masks with those of transformers.
//!
//! ```text
//! [[[2, 4]], [[0, 2], [2, 4], [4, 6]]]   ->   [0,1,0]
//! ```

use chat_template::assistant_mask;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lines() {
        let [spans, tokens]: [Vec<(usize, usize)>; 2] = serde_json::from_str(&line?)?;
        let spans: Vec<_> = spans.into_iter().map(|(start, end)| start..end).collect();
        println!("{}", serde_json::to_string(&assistant_mask(&spans, &tokens))?);
    }
    Ok(())
}

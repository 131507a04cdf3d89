//! Reading a text whose dialect is not known beforehand.

use super::ParseError;
use super::header::header_error;
use crate::fed::{self, Module};
use crate::tensor::{self, Graph};

/// The content of a text.
#[derive(Clone, Debug)]
pub enum Document {
    /// A fed module.
    Fed(Module),
    /// Tensor graphs, each with its name.
    Tensor(Vec<(String, Graph)>),
}

/// A document of a text that holds several, as a dump of an algorithm with several phases does.
#[derive(Clone, Debug)]
pub struct Section {
    /// The comment lines right before the document, such as `// phase 1: warm`; empty if there are none.
    pub title: String,
    /// The document.
    pub document: Document,
}

/// How the text of a plan begins, which the executor runs and nothing reads.
const PLAN: &str = "// fedround plan ";

const HEADERS: [&str; 2] = ["// fedround fed ", "// fedround tensor "];

/// Reads a text of one document or several and verifies them. Each document begins with its header, and
/// comments may stand before it.
///
/// # Errors
///
/// The first thing that is wrong with the text, with its line there.
pub fn parse_sections(text: &str) -> Result<Vec<Section>, ParseError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_header = |line: &str| HEADERS.iter().any(|h| line.trim_start().starts_with(h));
    let is_comment = |line: &&&str| line.trim_start().starts_with("//") && !is_header(line);
    // Of each document: the line where its comments begin, and that of its header.
    let mut starts = vec![];
    for (header, _) in lines.iter().enumerate().filter(|(_, line)| is_header(line)) {
        let comments = lines[..header].iter().rev().take_while(is_comment).count();
        starts.push((header - comments, header));
    }
    let first = starts.first().map_or(0, |(comments, _)| *comments);
    if starts.is_empty() || lines[..first].iter().any(|line| !line.trim().is_empty()) {
        let (title, document) = (String::new(), parse(text)?);
        return Ok(vec![Section { title, document }]);
    }
    let ends = starts.iter().skip(1).map(|(comments, _)| *comments);
    let ends = ends.chain([lines.len()]);
    let sections = starts.iter().zip(ends).map(|(&(comments, header), end)| {
        // Empty lines in place of what is before it, so that errors name the line of the whole text.
        let own = "\n".repeat(header) + &lines[header..end].concat();
        Ok(Section {
            title: lines[comments..header].concat(),
            document: parse(&own)?,
        })
    });
    sections.collect()
}

/// Reads a text of either dialect and verifies it.
///
/// # Errors
///
/// [`ParseError`] for the first syntax error, wrong name or type, or broken rule of the dialect.
pub fn parse(text: &str) -> Result<Document, ParseError> {
    if text.trim_start().starts_with(HEADERS[0]) {
        return fed::parse(text).map(Document::Fed);
    }
    if text.trim_start().starts_with(HEADERS[1]) {
        return tensor::parse(text).map(Document::Tensor);
    }
    // A plan, too, is printed, after a comment if it is of a phase.
    let is_plan = text.lines().any(|line| line.starts_with(PLAN));
    Err(header_error(
        text,
        match is_plan {
            true => {
                "a text of the fed or the tensor dialect; plans are only printed, so give the tensor graph instead (`--at tensor --exact`)"
            }
            false => "`// fedround fed v1` or `// fedround tensor v1` on the first line",
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_refused_with_the_reason_in_one_phase_or_several() {
        for text in [
            "// fedround plan v1\nplan @step0 slots 2 {\n}\n",
            "// phase a, rounds 1 to 2\n// fedround plan v1\nplan @step0 slots 2 {\n}\n",
        ] {
            let error = parse_sections(text).unwrap_err().to_string();
            assert!(error.starts_with("1:1: expected a text"), "{error}");
            assert!(error.contains("plans are only printed"), "{error}");
        }
        let error = parse_sections("// a comment\n").unwrap_err().to_string();
        assert!(!error.contains("plans"), "{error}");
    }
}

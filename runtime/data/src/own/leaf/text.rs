//! Texts as the ids of their characters.

use std::path::Path;

use crate::own::OwnDataError;
use crate::own::labels::Names;
use crate::{Column, DataError};

/// The characters that LEAF's models know, in its order. Every other character has the id after them.
pub const LETTERS: &str =
    "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}";

/// The name of the class of other characters.
const OTHER: &str = "(other)";

fn id(character: char) -> u16 {
    let known = (0..).zip(LETTERS.chars());
    let mut found = known.filter(|(_, letter)| *letter == character);
    match found.next() {
        Some((id, _)) => id,
        None => LETTERS.len() as u16,
    }
}

/// The classes of next characters, which are the same whatever the data holds, and the class of each
/// example.
pub(super) fn classes(targets: Names, dir: &Path) -> Result<(Vec<String>, Vec<u16>), OwnDataError> {
    let (texts, of) = targets.sorted();
    let class = |text: &String| {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(id(character)),
            _ => Err(OwnDataError::NextCharacter {
                dir: dir.to_path_buf(),
                found: crate::notes::start(text),
            }),
        }
    };
    let classes = texts.iter().map(class).collect::<Result<Vec<u16>, _>>()?;
    let labels = of.iter().map(|&at| classes[at as usize]).collect();
    let names = LETTERS.chars().map(|letter| match letter {
        '\n' => "\\n".to_owned(),
        letter => letter.to_string(),
    });
    Ok((names.chain([OTHER.to_owned()]).collect(), labels))
}

/// The columns of texts of `width` characters: `tokens`, the ids of the characters, and `x`, which models of
/// texts do not look at.
pub(super) fn columns(texts: &[String], width: usize) -> Result<Vec<Column>, DataError> {
    let ids = texts.iter().flat_map(|text| text.chars().map(id));
    Ok(vec![
        Column::floats("x", [1], vec![0.0; texts.len()])?,
        Column::ids("tokens", [width], ids.map(i32::from).collect())?,
    ])
}

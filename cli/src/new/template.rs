//! The files of a new crate, made of the example's and of bundled algorithms.

use fedround::testing::{Stage, graph_text};
use fedround_algorithms::SOURCES;

use super::crate_name::CrateName;
use super::error::NewError;
use crate::error::CliError;

// The files of the example crate, which docs/first-algorithm.md shows. They are in this folder again, for the
// published crate has no other folders.
const MAIN: &str = include_str!("example/main.txt");
const ALGORITHM: &str = include_str!("example/lookahead.txt");
const TESTS: &str = include_str!("example/tests.txt");
const SNAPSHOT: &str = include_str!("example/graph.txt");
/// The tests of a copy.
const COPY_TESTS: &str = include_str!("copy_tests.txt");

/// What the crate has and what to do first.
const README: &str = include_str!("readme.txt");
/// What the README says of the documentation's guide, for a plug-in and for a copy.
const GUIDE: &str = "`docs/first-algorithm.md` explains the algorithm and the tests line by line.";
const COPY_GUIDE: &str =
    "`docs/first-algorithm.md` explains how such a crate is made, by another algorithm.";

/// A file of the crate.
pub(super) struct File {
    /// Its path in the crate's folder.
    pub path: String,
    pub text: String,
}

impl File {
    pub fn new(path: impl Into<String>, text: String) -> Self {
        let path = path.into();
        Self { path, text }
    }
}

/// The example's files under another name.
///
/// # Errors
///
/// [`NewError::Taken`] for a name that these files use for something else.
pub(super) fn plug_in(name: &CrateName) -> Result<Vec<File>, CliError> {
    let own = ["Lookahead", "lookahead"];
    check(name, &[MAIN, ALGORITHM, TESTS], &own)?;
    let renamed = |text| {
        rename(
            text,
            &[(own[0], &name.structure()), (own[1], &name.module())],
        )
    };
    let snapshot = SNAPSHOT.replace("@lookahead(", &format!("@{}(", name.algorithm()));
    Ok(files(
        name,
        renamed(MAIN),
        renamed(ALGORITHM),
        renamed(TESTS),
        snapshot,
        GUIDE,
    ))
}

/// The example's files with a copy of a bundled algorithm.
///
/// # Errors
///
/// An unknown algorithm, one that cannot be copied, or a name that these files use for something else.
pub(super) fn copy(name: &CrateName, base: &str) -> Result<Vec<File>, CliError> {
    let registry = fedround_algorithms::registry();
    let entry = registry.entry(base)?;
    let source = SOURCES.iter().find(|(name, _)| *name == base);
    let Some((_, source)) = source else {
        let known: Vec<_> = SOURCES.iter().map(|(name, _)| *name).collect();
        return Err(NewError::NoCopy {
            base: base.to_owned(),
            known: known.join(", "),
        }
        .into());
    };
    let original = structure_of(source);
    check(name, &[MAIN, source, COPY_TESTS], &[original])?;
    let (structure, algorithm) = (name.structure(), name.algorithm());
    let copied = rename(source, &[(original, &structure)])
        .replace("use crate::", "use fedround::algorithms::")
        .replace(
            &format!("name = {base:?}"),
            &format!("name = {algorithm:?}"),
        );
    let names = [("Lookahead", &*structure), ("lookahead", &*name.module())];
    let mut main = rename(MAIN, &names);
    if !entry.takes_base {
        main = main
            .replace("use fedround::prelude::BoxedAlgorithm;\n", "")
            .replace("<BoxedAlgorithm>", "");
    }
    let tests = rename(COPY_TESTS, &[names[0], names[1], ("Original", original)]);
    let graph = graph_text(&*registry.parse(base)?, Stage::Linked)?;
    // Its name stands before its hyper-parameters and before the names of its states.
    let graph = graph.replace(&format!("@{base}("), &format!("@{algorithm}("));
    let graph = graph.replace(&format!("\"{base}."), &format!("\"{algorithm}."));
    let (header, _) = SNAPSHOT.split_once("// fedround").unwrap_or_default();
    let snapshot = format!("{header}{}\n", graph.trim_end());
    Ok(files(name, main, copied, tests, snapshot, COPY_GUIDE))
}

fn files(
    name: &CrateName,
    main: String,
    algorithm: String,
    tests: String,
    snapshot: String,
    guide: &str,
) -> Vec<File> {
    let module = name.module();
    let reviewed = format!("src/snapshots/{module}__tests__graph_is_as_reviewed.snap");
    let readme = README
        .replace("{crate}", name.as_str())
        .replace("{algorithm}", &name.algorithm())
        .replace("{module}", &module)
        .replace("{guide}", guide);
    vec![
        File::new("README.md", readme),
        File::new("src/main.rs", main),
        File::new(format!("src/{module}.rs"), algorithm),
        File::new("src/tests.rs", tests),
        File::new(reviewed, snapshot),
    ]
}

/// The name of the first struct of a file.
fn structure_of(source: &str) -> &str {
    let (_, after) = source.split_once("pub struct ").unwrap_or_default();
    words(after).next().unwrap_or_default()
}

/// The parts of a text that are names or numbers, and those between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let other = rest.find(|c| of_name(c) != of_name(first));
        let (word, after) = rest.split_at(other.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

/// Fails for a name that texts use for something else than what is renamed.
fn check(name: &CrateName, texts: &[&str], renamed: &[&str]) -> Result<(), NewError> {
    let (module, structure) = (name.module(), name.structure());
    let own = |word: &str| word == module || word == structure;
    let used = texts.iter().flat_map(|text| words(text));
    match used.filter(|word| !renamed.contains(word)).any(own) {
        false => Ok(()),
        true => Err(NewError::Taken {
            name: name.as_str().to_owned(),
            what: "a word that the crate uses for something else",
        }),
    }
}

/// A text with other names in its code. Comments, which cite papers, have them in links alone.
fn rename(text: &str, names: &[(&str, &str)]) -> String {
    let mut renamed = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("//") {
            let linked = names.iter().fold(line.to_owned(), |line, (old, new)| {
                line.replace(&format!("[`{old}`]"), &format!("[`{new}`]"))
            });
            renamed.push_str(&linked);
            continue;
        }
        for word in words(line) {
            let new = names.iter().find(|(old, _)| old == &word);
            renamed.push_str(new.map_or(word, |(_, new)| new));
        }
    }
    renamed
}

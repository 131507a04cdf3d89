//! The book in `docs`: its table of contents has every page, and links lead to files and headings
//! that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::root;

/// Pages beside the book whose links are checked, too.
const BESIDE: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "tests/README.md",
];

/// A page's headings, as the last part of a link names them, and where its links lead.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence = None;
        for line in text.lines() {
            let code = line.trim_start();
            let ticks = code.chars().take_while(|c| *c == '`').count();
            match fence {
                None if ticks >= 3 => fence = Some(ticks),
                Some(opened) if ticks >= opened && code.len() == ticks => fence = None,
                Some(_) => {}
                None => page.line(line),
            }
        }
        page
    }

    fn line(&mut self, line: &str) {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            let anchor = anchor(title.trim());
            let mut unique = anchor.clone();
            for n in 1.. {
                if self.anchors.insert(unique) {
                    break;
                }
                unique = format!("{anchor}-{n}");
            }
        }
        // Every other piece between backticks is code.
        let prose: String = line.split('`').step_by(2).collect();
        let targets = prose.split("](").skip(1);
        let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
        self.links.extend(targets);
    }
}

/// The anchor that GitHub and mdBook make of a heading: without links, code marks and punctuation.
fn anchor(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let kept = text.chars().filter(kept);
    kept.map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The Markdown files in a folder and below it, from the root.
fn pages(folder: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = Path::new(folder).join(entry.file_name());
        if entry.path().is_dir() {
            found.extend(pages(path.to_str().unwrap()));
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Page {
    Page::read(&fs::read_to_string(root().join(path)).unwrap())
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = Path::new("docs/SUMMARY.md");
    let listed: Vec<PathBuf> = read(summary)
        .links
        .iter()
        .map(|link| Path::new("docs").join(link))
        .collect();
    let once: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let mut written: BTreeSet<PathBuf> = pages("docs").into_iter().collect();
    written.remove(summary);
    let missing: Vec<_> = written.difference(&once).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

#[test]
fn links_lead_somewhere() {
    let beside = BESIDE.map(PathBuf::from).into_iter();
    let all: BTreeMap<PathBuf, Page> = beside
        .chain(pages("docs"))
        .chain(pages("examples"))
        .map(|path| (path.clone(), read(&path)))
        .collect();
    let mut broken = vec![];
    for (path, page) in &all {
        let inside = page.links.iter().filter(|link| !link.contains("://"));
        for link in inside.filter(|link| !link.starts_with("mailto:")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => plain(&path.parent().unwrap().join(file)),
            };
            let missing = !root().join(&target).exists();
            let headings = all.get(&target).map(|page| &page.anchors);
            let unknown = || headings.is_some_and(|known| !known.contains(heading));
            if missing || (!heading.is_empty() && unknown()) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links lead nowhere: {broken:#?}");
}

#[test]
fn anchors_are_those_of_the_renderers() {
    assert_eq!(
        anchor("A `head`, and [a link](x.md#y)"),
        "a-head-and-a-link"
    );
    let page = Page::read("# Same\n```sh\n# no heading [a](b)\n```\n# Same\n`[c](d)` [e](f#g)\n");
    assert_eq!(page.links, ["f#g"]);
    assert!(page.anchors.iter().eq(["same", "same-1"]));
}

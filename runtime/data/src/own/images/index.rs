//! The names of the files in a folder of images.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use fedround_names::nearest;

use crate::DataError;
use crate::formats::images::is_image;
use crate::notes::count;
use crate::own::labels::{MOST_CLASSES, Names};
use crate::own::{DataLocation, OwnDataError};

/// The images of a folder.
#[derive(Default)]
pub(super) struct Index {
    pub paths: Vec<PathBuf>,
    pub labels: Vec<u16>,
    /// The client or domain of each image; `None` in a part without a level of them.
    pub groups: Vec<Option<u32>>,
    /// The part for testing, if the folder has one, and whether each image is in it.
    pub test: Option<(PathBuf, Vec<bool>)>,
    pub classes: Vec<String>,
    pub group_names: Vec<String>,
    pub notes: Vec<String>,
}

/// What is directly in a folder, in the order of the names.
#[derive(Default)]
struct Listing {
    folders: Vec<OsString>,
    images: Vec<OsString>,
    others: usize,
    /// The name of one of the others.
    other: Option<String>,
}

const TRAIN: [&str; 2] = ["train", "training"];
const TEST: [&str; 4] = ["test", "val", "valid", "validation"];

/// One image, with the names of its class and group.
struct Image {
    path: PathBuf,
    class: String,
    group: Option<String>,
    test: bool,
}

impl Index {
    /// Reads the names of all files.
    pub fn of(dir: &Path) -> Result<Self, DataError> {
        if !dir.is_dir() {
            return Err(DataLocation::missing(dir, "a folder"));
        }
        let top = list(dir)?;
        let part = |names: &[&str]| {
            let is = |folder: &&OsString| names.contains(&text(folder).to_lowercase().as_str());
            top.folders.iter().find(is).map(|name| dir.join(name))
        };
        let (mut images, mut notes) = (vec![], vec![]);
        let (train, test) = match (part(&TRAIN), part(&TEST)) {
            (Some(train), test @ Some(_)) => (train, test),
            // A single folder is the training part; beside others, it is a class of that name.
            (Some(train), None) if top.folders.len() == 1 => (train, None),
            _ => (dir.to_path_buf(), None),
        };
        walk(&train, false, &mut images, &mut notes)?;
        if let Some(test) = &test {
            walk(test, true, &mut images, &mut notes)?;
            check_test(test, &images)?;
            check_clients(dir, &images)?;
            let more = top.folders.len() - 2;
            if more > 0 {
                let (train, test) = (train.display(), test.display());
                let more = count(more, "more folder", "more folders");
                notes.push(format!("only {train} and {test} are read, not {more}"));
            }
        }
        Self::named(dir, images, test, notes)
    }

    fn named(
        dir: &Path,
        images: Vec<Image>,
        test: Option<PathBuf>,
        notes: Vec<String>,
    ) -> Result<Self, DataError> {
        let (mut classes, mut groups) = (Names::default(), Names::default());
        for image in &images {
            classes.push(&image.class);
            if let Some(group) = &image.group {
                groups.push(group);
            }
        }
        let (classes, labels) = classes.classes(&dir.display().to_string())?;
        // There is one for each image that has a group.
        let (group_names, groups) = groups.sorted();
        let mut groups = groups.into_iter();
        let group = |image: &Image| image.group.as_ref().and_then(|_| groups.next());
        let groups = images.iter().map(group).collect();
        Ok(Self {
            test: test.map(|dir| {
                let is_test = images.iter().map(|image| image.test);
                (dir, is_test.collect())
            }),
            paths: images.into_iter().map(|image| image.path).collect(),
            labels,
            groups,
            classes,
            group_names,
            notes,
        })
    }
}

/// Adds the images of one part.
fn walk(
    dir: &Path,
    test: bool,
    images: &mut Vec<Image>,
    notes: &mut Vec<String>,
) -> Result<(), DataError> {
    let layout = |found: String| OwnDataError::Layout {
        dir: dir.to_path_buf(),
        found,
    };
    let top = list(dir)?;
    if top.folders.is_empty() {
        let found = match top.images.len() {
            0 => "an empty folder".to_owned(),
            n => count(n, "image", "images") + " directly in it",
        };
        return Err(layout(found).into());
    }
    if top.folders.len() > MOST_CLASSES {
        return Err(layout(count(top.folders.len(), "folder", "folders")).into());
    }
    if !top.images.is_empty() {
        let images = count(top.images.len(), "image", "images");
        notes.push(format!(
            "{images} directly in {} left out: an image belongs into the folder of its class",
            dir.display()
        ));
    }
    let (before, mut other) = (images.len(), None);
    let mut add = |folder: &Path, listing: Listing, class: &OsStr, group: Option<&OsStr>| {
        if listing.others > 0 {
            let (others, folder) = (listing.others, folder.display());
            let files = count(others, "file", "files");
            let are = if others == 1 { "is" } else { "are" };
            notes.push(format!("{files} in {folder} {are} neither JPEG nor PNG"));
        }
        if !listing.folders.is_empty() {
            let folders = count(listing.folders.len(), "folder", "folders");
            notes.push(format!(
                "{folders} in {} left out: an image belongs directly into the folder of its class",
                folder.display()
            ));
        }
        if listing.images.is_empty() {
            notes.push(format!("{} holds no images", folder.display()));
        }
        other = other.take().or(listing.other);
        images.extend(listing.images.into_iter().map(|name| Image {
            path: folder.join(name),
            class: text(class),
            group: group.map(text),
            test,
        }));
    };
    // The folders with images and those with folders, by their names.
    let (mut flat, mut deep) = (None, None);
    for name in &top.folders {
        let folder = dir.join(name);
        let inner = list(&folder)?;
        match (inner.folders.is_empty(), inner.images.is_empty()) {
            (false, true) => deep = deep.or(Some(name)),
            (_, false) => flat = flat.or(Some(name)),
            (true, true) => {}
        }
        if let (Some(flat), Some(deep)) = (flat, deep) {
            let found = format!("images in `{}` and folders in `{}`", text(flat), text(deep));
            return Err(layout(found).into());
        }
        if deep.is_none() {
            add(&folder, inner, name, None);
            continue;
        }
        for class in &inner.folders {
            let folder = folder.join(class);
            add(&folder, list(&folder)?, class, Some(name));
        }
    }
    // Images of the other part do not count.
    if images.len() == before {
        let found = other.map_or_else(
            || "folders without images".to_owned(),
            |name| format!("folders without images, but with other files, such as `{name}`; convert such pictures to JPEG"),
        );
        return Err(layout(found).into());
    }
    Ok(())
}

/// Every class of the test images must have training images.
fn check_test(dir: &Path, images: &[Image]) -> Result<(), DataError> {
    let train = images.iter().filter(|image| !image.test);
    let classes: BTreeSet<&str> = train.map(|image| image.class.as_str()).collect();
    let only = |image: &&Image| !classes.contains(image.class.as_str());
    match images.iter().find(only) {
        None => Ok(()),
        Some(image) => Err(OwnDataError::OnlyInTest {
            path: dir.to_path_buf(),
            class: image.class.clone(),
            nearest: nearest(&image.class, classes).map(str::to_owned),
        }
        .into()),
    }
}

/// Clients in the test part alone would be nobody who trains. The training part may have them alone: its clients share
/// the test images.
fn check_clients(dir: &Path, images: &[Image]) -> Result<(), DataError> {
    let has = |test: bool| {
        let mut part = images.iter().filter(|image| image.test == test);
        part.any(|image| image.group.is_some())
    };
    match has(true) && !has(false) {
        false => Ok(()),
        true => Err(OwnDataError::Layout {
            dir: dir.to_path_buf(),
            found: "one more level in the part for testing, and none in the part for training"
                .to_owned(),
        }
        .into()),
    }
}

/// What is in a folder, less hidden files.
fn list(dir: &Path) -> Result<Listing, DataError> {
    let unreadable = DataError::unreadable(dir);
    let mut listing = Listing::default();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let shown = text(&name);
        if shown.starts_with('.') {
            continue;
        }
        let mut kind = entry.file_type().map_err(unreadable)?;
        // Most entries say what they are without another call; links do not. One that leads nowhere stays a link, and
        // is an error when it is read.
        if kind.is_symlink() {
            kind = fs::metadata(entry.path()).map_or(kind, |target| target.file_type());
        }
        // A pipe would be waited for.
        let is_file = kind.is_file() || kind.is_symlink();
        if kind.is_dir() {
            listing.folders.push(name);
        } else if is_file && is_image(Path::new(&name)) {
            listing.images.push(name);
        } else {
            listing.others += 1;
            listing.other = listing.other.or(Some(shown));
        }
    }
    listing.folders.sort_unstable();
    listing.images.sort_unstable();
    Ok(listing)
}

/// The name of a folder or file as text. Bytes that are no UTF-8 are written as escapes, so that two classes
/// keep two names.
fn text(name: &OsStr) -> String {
    match name.to_str() {
        Some(text) => text.to_owned(),
        None => format!("{name:?}").trim_matches('"').to_owned(),
    }
}

//! Image classification over domains: datasets that are folders `domain/class/image`.
//!
//! Images are brought to 64x64 in `[-1, 1]`. One fifth of each domain, drawn at random, is for testing,
//! as in ADCOL (Li et al., 2023). The groups are the domains.

pub(super) mod domainnet;
pub(super) mod office_31;
pub(super) mod office_caltech_10;
pub(super) mod pacs;

use std::fs;
use std::path::{Path, PathBuf};

use super::hold_out::hold_out;
use crate::formats::images::is_image;
use crate::source::Request;
use crate::{Column, DataError, Dataset, Examples, Fit, ImageFiles, Scale};

const SHAPE: [usize; 3] = [3, 64, 64];

/// Datasets of at most this many bytes are decoded when they are read. Of larger ones, a cache of this
/// size is kept.
const MEMORY: usize = 1 << 30;

/// One of the two parts of a dataset.
#[derive(Default)]
struct Split {
    paths: Vec<PathBuf>,
    labels: Vec<u16>,
    groups: Vec<u32>,
}

/// Reads a dataset. `published` is the number of images in each domain of the published files, as far as
/// it is known; another number is noted.
fn read(request: &Request<'_>, published: &[usize]) -> Result<Dataset, DataError> {
    let paths = request.paths()?;
    let missing: Vec<PathBuf> = paths.iter().filter(|p| !p.is_dir()).cloned().collect();
    let ([first, ..], []) = (&paths[..], &missing[..]) else {
        return Err(request.missing(missing));
    };
    let names = match request.info.class_names {
        [] => folders(&images_of(first))?,
        names => names.iter().copied().map(str::to_owned).collect(),
    };
    let (mut train, mut test) = (Split::default(), Split::default());
    let mut domains = Vec::new();
    for (domain, path) in paths.iter().enumerate() {
        let (files, labels) = images(&images_of(path), &names, request)?;
        if let Some(expected) = published.get(domain).filter(|&&n| n != files.len()) {
            let (path, found) = (path.display(), files.len());
            request.notes.add(format!(
                "{path} has {found} images, the published dataset {expected}"
            ));
        }
        let (in_train, in_test) = hold_out(request.seed, domain, files.len());
        for (split, indices) in [(&mut train, in_train), (&mut test, in_test)] {
            split.groups.extend(indices.iter().map(|_| domain as u32));
            split.labels.extend(indices.iter().map(|&i| labels[i]));
            split
                .paths
                .extend(indices.iter().map(|&i| files[i].clone()));
        }
        domains.push(name(path).unwrap_or_default());
    }
    let images = train.paths.len() + test.paths.len();
    let at_once = images * SHAPE.iter().product::<usize>() <= MEMORY;
    let groups = [&mut train, &mut test].map(|s| std::mem::take(&mut s.groups));
    let [train, test] = [train.examples(at_once)?, test.examples(at_once)?];
    let [in_train, in_test] = groups;
    let data = Dataset::new(request.info.name, train, test, names);
    Ok(data.with_groups(in_train, in_test, domains)?)
}

impl Split {
    fn examples(self, at_once: bool) -> Result<Examples, DataError> {
        let files = ImageFiles::new(self.paths, SHAPE, Fit::Stretch)?;
        let scale = Scale::normalised(&[0.5], &[0.5]);
        let x = match at_once {
            true => Column::bytes("x", SHAPE, files.decode_all()?, scale)?,
            false => Column::images("x", files.with_cache(MEMORY), scale)?,
        };
        Ok(Examples::of_columns(vec![x], self.labels)?)
    }
}

/// Where the classes of a domain are: Office-31 has them in a folder `images`.
fn images_of(domain: &Path) -> PathBuf {
    let inner = domain.join("images");
    if inner.is_dir() {
        inner
    } else {
        domain.to_path_buf()
    }
}

/// The images of a domain in the order of their classes and names, and their labels.
fn images(
    domain: &Path,
    classes: &[String],
    request: &Request<'_>,
) -> Result<(Vec<PathBuf>, Vec<u16>), DataError> {
    let present = folders(domain)?;
    let missing = classes.iter().filter(|c| !present.contains(c));
    let missing: Vec<PathBuf> = missing.map(|c| domain.join(c)).collect();
    if !missing.is_empty() {
        return Err(request.missing(missing));
    }
    let (mut paths, mut labels) = (Vec::new(), Vec::new());
    for (label, class) in classes.iter().enumerate() {
        let folder = domain.join(class);
        let mut files = entries(&folder)?;
        let all = files.len();
        files.retain(|path| is_image(path));
        if files.len() < all {
            let (others, folder) = (all - files.len(), folder.display());
            request.notes.add(format!(
                "{others} files in {folder} are neither JPEG nor PNG"
            ));
        }
        DataError::empty_if(files.is_empty(), &folder)?;
        labels.resize(labels.len() + files.len(), label as u16);
        paths.extend(files);
    }
    Ok((paths, labels))
}

/// The names of the folders in a folder, in their order.
fn folders(folder: &Path) -> Result<Vec<String>, DataError> {
    let entries = entries(folder)?.into_iter().filter(|p| p.is_dir());
    Ok(entries.filter_map(|p| name(&p)).collect())
}

/// What is in a folder, less hidden files, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let unreadable = DataError::unreadable(folder);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry.map_err(unreadable)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>, DataError>>()?;
    paths.retain(|path| name(path).is_some_and(|n| !n.starts_with('.')));
    paths.sort_unstable();
    Ok(paths)
}

fn name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

//! MS COCO: `captions_*.json` and `instances_*.json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::{Captioned, Captions};
use crate::record::json;
use crate::{DataError, RecordError};

#[derive(Deserialize)]
struct CaptionFile {
    images: Vec<Image>,
    annotations: Vec<Caption>,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct Caption {
    image_id: u64,
    caption: String,
}

#[derive(Deserialize)]
struct InstanceFile {
    annotations: Vec<Instance>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Instance {
    image_id: u64,
    category_id: u64,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    name: String,
}

/// The images and captions of one split, ascending by the image's id. Images
/// lie in the folder `images`; the categories of their objects come from
/// `instances`, where it is given.
///
/// # Errors
/// A missing file, JSON that breaks off or has other fields, a caption of an
/// image that is not listed, an image without a caption or a file.
pub fn coco(
    images: &Path,
    captions: &Path,
    instances: Option<&Path>,
) -> Result<Captions, DataError> {
    let file: CaptionFile = json(captions)?;
    let mut said = HashMap::<u64, Vec<String>>::new();
    for caption in file.annotations {
        let text = caption.caption.trim().to_owned();
        said.entry(caption.image_id).or_default().push(text);
    }
    let (categories, mut objects) = match instances {
        Some(path) => objects(path)?,
        None => Default::default(),
    };
    let names: BTreeMap<u64, String> = file
        .images
        .into_iter()
        .map(|i| (i.id, i.file_name))
        .collect();
    let missing = |what, name: String, place: &Path| RecordError::Reference {
        path: captions.to_path_buf(),
        what,
        name,
        place: place.to_path_buf(),
    };
    let mut all = Vec::with_capacity(names.len());
    for (id, name) in names {
        let Some(captions_of) = said.remove(&id) else {
            return Err(missing("the caption of image", id.to_string(), captions).into());
        };
        let image = images.join(&name);
        if !image.is_file() {
            return Err(missing("image", name, images).into());
        }
        let objects = objects.remove(&id).unwrap_or_default();
        all.push(Captioned {
            image,
            captions: captions_of,
            objects: objects.into_iter().collect(),
        });
    }
    if let Some(id) = said.into_keys().min() {
        return Err(missing("the image of captions", id.to_string(), captions).into());
    }
    if all.is_empty() {
        let path = captions.to_path_buf();
        return Err(DataError::Empty { path });
    }
    Ok(Captions {
        images: all,
        categories,
    })
}

/// The categories' names, ascending by their ids, and the categories on each image.
type Objects = (Vec<String>, HashMap<u64, BTreeSet<u16>>);

fn objects(path: &Path) -> Result<Objects, DataError> {
    let file: InstanceFile = json(path)?;
    let names: BTreeMap<u64, String> = file
        .categories
        .into_iter()
        .map(|c| (c.id, c.name))
        .collect();
    let index: HashMap<u64, u16> = names.keys().copied().zip(0..).collect();
    let mut objects = HashMap::<u64, BTreeSet<u16>>::new();
    for instance in file.annotations {
        let category = index.get(&instance.category_id);
        let category = category.ok_or_else(|| RecordError::Reference {
            path: path.to_path_buf(),
            what: "category",
            name: instance.category_id.to_string(),
            place: path.to_path_buf(),
        })?;
        let on_image = objects.entry(instance.image_id).or_default();
        on_image.insert(*category);
    }
    Ok((names.into_values().collect(), objects))
}

//! The datasets of words, by name.

use std::path::PathBuf;
use std::sync::Arc;

use super::captions::{self, CaptionSet};
use super::questions::{self, QuestionSet};
use crate::files::find;
use crate::load::Request;
use crate::{DataError, Dataset, DatasetInfo, Language};

const IMAGE: &[usize] = &captions::FORM.image;

pub(crate) const FLICKR8K: DatasetInfo = DatasetInfo {
    name: "flickr8k",
    doc: "photographs with five captions, by topic (Hodosh et al., 2013)",
    classes: 20,
    class_names: &[],
    shape: IMAGE,
    files: &["flickr8k/captions.txt", "flickr8k/Images"],
    how: "Unpack https://www.kaggle.com/datasets/adityajn105/flickr8k in DIR/flickr8k",
    read: |request| {
        let folder = folder(request, "flickr8k")?;
        let set = CaptionSet::flickr8k(&folder, captions::FORM, request.seed)?;
        Ok(set.dataset)
    },
};

pub(crate) const COCO: DatasetInfo = DatasetInfo {
    name: "coco",
    doc: "photographs of objects of one category with five captions (Lin et al., 2014)",
    classes: 80,
    class_names: &[],
    shape: IMAGE,
    files: &[
        "coco/annotations/captions_train2014.json",
        "coco/annotations/instances_train2014.json",
        "coco/annotations/captions_val2014.json",
        "coco/annotations/instances_val2014.json",
        "coco/train2014",
        "coco/val2014",
    ],
    how: "Unpack train2014.zip, val2014.zip and annotations_trainval2014.zip of \
          https://cocodataset.org/#download in DIR/coco",
    read: |request| Ok(CaptionSet::coco(&folder(request, "coco")?, captions::FORM)?.dataset),
};

pub(crate) const EASY_VQA: DatasetInfo = DatasetInfo {
    name: "easy-vqa",
    doc: "questions about coloured shapes (Zhou, 2019)",
    classes: 13,
    class_names: &[],
    shape: IMAGE,
    files: &[
        "easy_vqa/answers.txt",
        "easy_vqa/train/questions.json",
        "easy_vqa/train/images",
        "easy_vqa/test/questions.json",
        "easy_vqa/test/images",
    ],
    how: "Put easy_vqa/data of https://github.com/vzhou842/easy-VQA into DIR as easy_vqa",
    read: |request| {
        let set = QuestionSet::easy_vqa(&folder(request, "easy_vqa")?, questions::FORM)?;
        Ok(noted(request, set, false))
    },
};

pub(crate) const DAQUAR: DatasetInfo = DatasetInfo {
    name: "daquar",
    doc: "questions about photographs of rooms (Malinowski and Fritz, 2014)",
    classes: 582,
    class_names: &[],
    shape: IMAGE,
    files: &[
        "daquar/data_train.csv",
        "daquar/data_eval.csv",
        "daquar/answer_space.txt",
        "daquar/images",
    ],
    how: "Put the folder dataset of https://github.com/tezansahu/VQA-With-Multimodal-Transformers \
          into DIR as daquar",
    read: |request| {
        let set = QuestionSet::daquar(&folder(request, "daquar")?, questions::FORM)?;
        Ok(noted(request, set, false))
    },
};

pub(crate) const VQA_V2: DatasetInfo = DatasetInfo {
    name: "vqa-v2",
    doc: "questions about COCO's photographs, ten answers each (Goyal et al., 2017)",
    classes: 3000,
    class_names: &[],
    shape: IMAGE,
    files: &[
        "vqa-v2/v2_OpenEnded_mscoco_train2014_questions.json",
        "vqa-v2/v2_mscoco_train2014_annotations.json",
        "vqa-v2/v2_OpenEnded_mscoco_val2014_questions.json",
        "vqa-v2/v2_mscoco_val2014_annotations.json",
        "vqa-v2/train2014",
        "vqa-v2/val2014",
    ],
    how: "Unpack the training and validation questions and annotations of \
          https://visualqa.org/download.html in DIR/vqa-v2, and link COCO's train2014 and val2014 there",
    read: |request| {
        let set = QuestionSet::vqa(&folder(request, "vqa-v2")?, questions::FORM)?;
        Ok(noted(request, set, true))
    },
};

/// A folder of the data folder, if all files and folders of the dataset are there.
fn folder(request: &Request<'_>, name: &str) -> Result<PathBuf, DataError> {
    let mut missing = request.paths()?;
    missing.retain(|path| !path.is_dir() && find(path).is_none());
    if missing.is_empty() {
        request.path(name)
    } else {
        Err(request.missing(missing))
    }
}

/// The dataset, and a note of the questions that are left out. Where not several people answered, the
/// class is the answer.
fn noted(request: &Request<'_>, set: QuestionSet, people: bool) -> Dataset {
    let splits = [
        ("training", &set.dataset.train),
        ("test", &set.dataset.test),
    ];
    for ((split, examples), left_out) in splits.into_iter().zip(set.left_out) {
        if left_out > 0 {
            let all = examples.len() + left_out;
            let classes = set.dataset.classes;
            request.notes.add(format!(
                "{left_out} of {all} {split} questions have none of the {classes} answers and are left out"
            ));
        }
    }
    let QuestionSet {
        mut dataset, human, ..
    } = set;
    let class = |label: &u16| vec![dataset.class_names[usize::from(*label)].clone()];
    dataset.language = Some(Language {
        vocabulary: Arc::new(set.vocabulary),
        human: match people {
            true => human.into(),
            false => dataset.test.labels().iter().map(class).collect(),
        },
        left_out: set.left_out[1],
    });
    dataset
}

/// Name and shape of the columns of words of a dataset; `None` of one without.
pub(crate) fn columns(name: &str) -> Option<Vec<(String, Vec<usize>)>> {
    let (form, captions) = match name {
        "flickr8k" | "coco" => (captions::FORM, true),
        "easy-vqa" | "daquar" | "vqa-v2" => (questions::FORM, false),
        _ => return None,
    };
    let of = |name: &str, shape: &[usize]| (name.to_owned(), shape.to_vec());
    let mut columns = vec![of("tokens", &[form.length]), of("length", &[])];
    columns.extend(captions.then(|| of("references", &[captions::REFERENCES, form.length])));
    Some(columns)
}

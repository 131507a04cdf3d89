//! The bundled models by name.

use burn::tensor::Device;
use fedround_names::did_you_mean;

use crate::{Model, Task};

/// A bundled model.
pub struct ModelInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Smallest height and width of an input.
    pub min_side: usize,
    pub(crate) make: Make,
}

/// How a model is made.
pub(crate) enum Make {
    /// For images or rows of a table.
    Inputs(fn(Task, &Device) -> Box<dyn Model>),
    /// For texts, of so many layers and this width.
    Sized(fn(Task, [usize; 2], &Device) -> Box<dyn Model>),
    /// For images and sentences of so many words.
    Words(fn(Task, usize, &Device) -> Box<dyn Model>),
}

/// A model cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No model has the name.
    #[error("unknown model `{name}`{}; models are {known}", did_you_mean(*nearest))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// The model's layers do not fit the data's inputs.
    #[error(
        "model `{model}` needs inputs of at least {min}x{min}, found {height}x{width}; choose another model or dataset"
    )]
    Input {
        /// The model.
        model: &'static str,
        /// Its smallest side.
        min: usize,
        /// Height of the data's inputs.
        height: usize,
        /// Width of the data's inputs.
        width: usize,
    },
    /// The part after the colon of a name is invalid.
    #[error("model `{name}`: expected {expected}")]
    Size {
        /// The whole name.
        name: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The model reads words, which the data has none of.
    #[error(
        "model `{model}` reads words, which the data has none of; choose a dataset of captions or questions, or another model"
    )]
    Words {
        /// The model.
        model: &'static str,
    },
}

/// Layers and width of a sized model, if they are not given.
const SIZE: [usize; 2] = [2, 64];
/// The largest number of layers, and the largest width.
const LARGEST: [usize; 2] = [64, 4096];

impl ModelInfo {
    /// The layers and the width after the colon of a name. `None` without a colon.
    pub(crate) fn size(&self, name: &str) -> Result<Option<[usize; 2]>, ModelError> {
        let Some((_, text)) = name.split_once(':') else {
            return Ok(None);
        };
        let number = |text: &str, most: usize| {
            let n = text.parse().ok();
            n.filter(|n| (1..=most).contains(n))
        };
        let [layers, width] = LARGEST;
        let size = text.split_once('x');
        let size = size.and_then(|(l, w)| Some([number(l, layers)?, number(w, width)?]));
        match (&self.make, size) {
            (Make::Sized(_), Some(size)) => Ok(Some(size)),
            (Make::Sized(_), None) => Err(ModelError::Size {
                name: name.to_owned(),
                expected: "LAYERSxWIDTH of at most 64 and 4096, as in gpt:2x64",
            }),
            _ => Err(ModelError::Size {
                name: name.to_owned(),
                expected: "nothing after its name",
            }),
        }
    }

    /// Builds the model with parameters of zeros.
    ///
    /// # Errors
    ///
    /// The task's inputs are too small for the model's layers; the model reads words.
    pub fn build(&self, task: Task, device: &Device) -> Result<Box<dyn Model>, ModelError> {
        self.build_with(task, None, device)
    }

    /// As [`build`](Self::build), for data whose sentences have so many words; models that read none
    /// leave them be.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build); the model reads words, and there are none.
    pub fn build_with(
        &self,
        task: Task,
        words: Option<usize>,
        device: &Device,
    ) -> Result<Box<dyn Model>, ModelError> {
        let words = match self.make {
            Make::Inputs(_) | Make::Sized(_) => 0,
            Make::Words(_) => words.ok_or(ModelError::Words { model: self.name })?,
        };
        let [_, height, width] = task.input;
        if height.min(width) < self.min_side {
            return Err(ModelError::Input {
                model: self.name,
                min: self.min_side,
                height,
                width,
            });
        }
        Ok(match &self.make {
            Make::Inputs(make) => make(task, device),
            Make::Sized(make) => make(task, SIZE, device),
            Make::Words(make) => make(task, words, device),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    const GREY: Task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    const COLOUR: Task = Task {
        input: [3, 32, 32],
        classes: 10,
    };

    #[test]
    fn parameter_counts() {
        let count = |name: &str, task: Task| -> usize {
            let model = find(name).unwrap().build(task, &Device::default()).unwrap();
            let leaves = model.leaves();
            let trained = leaves.iter().filter(|l| !l.buffer);
            trained.map(|l| l.shape.iter().product::<usize>()).sum()
        };
        assert_eq!(count("logistic", GREY), 7_850);
        assert_eq!(count("2nn", GREY), 199_210);
        assert_eq!(count("cnn", GREY), 582_026);
        assert_eq!(count("lenet5", GREY), 44_426);
        assert_eq!(count("lenet5", COLOUR), 62_006);
        assert_eq!(count("pfl-cnn", COLOUR), 1_626_442);
        assert_eq!(count("resnet18", COLOUR), 11_173_962);
        assert_eq!(count("resnet18-gn", COLOUR), 11_173_962);
    }

    #[test]
    fn buffers_are_leaves_of_their_layer() {
        let model = find("resnet18").unwrap();
        let model = model.build(COLOUR, &Device::default()).unwrap();
        let on_device = model.to_device(&Device::default());
        let zeros = |l: &crate::Leaf| burn::tensor::TensorData::zeros::<f32, _>(l.shape.clone());
        let replaced = model.with_leaves(model.leaves().iter().map(zeros).collect());
        for model in [model, on_device, replaced] {
            let leaves = model.leaves();
            let buffers: Vec<&str> = leaves
                .iter()
                .filter(|l| l.buffer)
                .map(|l| l.name.as_str())
                .collect();
            // A mean and a variance for each of 20 normalisations.
            assert_eq!(buffers.len(), 40);
            assert_eq!(
                buffers[..3],
                [
                    "features.norm.running_mean",
                    "features.norm.running_var",
                    "features.stage1.0.norm1.running_mean"
                ]
            );
        }
    }

    #[test]
    fn parts_are_the_first_segment() {
        let model = find("lenet5")
            .unwrap()
            .build(GREY, &Device::default())
            .unwrap();
        let names: Vec<String> = model.leaves().into_iter().map(|l| l.name).collect();
        assert_eq!(names[0], "features.conv1.weight");
        assert_eq!(names.last().unwrap(), "head.bias");
    }

    #[test]
    fn sizes_follow_a_colon() {
        let count = |name: &str| -> usize {
            let model = crate::build(name, GREY, None, &Device::default()).unwrap();
            let shapes = model.leaves().into_iter().map(|l| l.shape);
            shapes.map(|shape| shape.iter().product::<usize>()).sum()
        };
        // Vectors, blocks of 12 w² + 13 w, the last normalisation and the head.
        let expected =
            |l: usize, w: usize| 10 * w + l * (12 * w * w + 13 * w) + 2 * w + 10 * w + 10;
        assert_eq!(count("gpt:3x32"), expected(3, 32));
        assert_eq!(count("gpt"), count("gpt:2x64"));
        for name in ["gpt:", "gpt:2", "gpt:0x8", "gpt:2x9999", "lenet5:2x8"] {
            let error = find(name).err().unwrap().to_string();
            assert!(error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn errors_help() {
        let error = find("lenet").err().unwrap().to_string();
        assert!(error.contains("did you mean `lenet5`"), "{error}");
        let small = Task {
            input: [1, 8, 8],
            classes: 10,
        };
        let error = find("cnn")
            .unwrap()
            .build(small, &Device::default())
            .err()
            .unwrap();
        assert!(error.to_string().contains("at least 16x16, found 8x8"));
    }
}

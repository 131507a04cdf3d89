//! Generates captions of images by beam search, with a model that decodes word by word.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_data::Examples;
use fedround_data::text::{END, START};
use fedround_exec::tensor::{from_floats, from_ints, read};
use fedround_ir::tensor::TensorType;
use fedround_models::{Beam, Words};
use fedround_random::{Purpose, StreamKey};

use super::{Inference, in_batches};
use crate::error::RunError;
use fedround_exec::executor::Slots;

/// The number of images that a worker decodes at the same time.
const CHUNK: usize = 50;

/// The settings of the beam search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The number of partial captions that are kept at each word; 1 is greedy decoding.
    pub beam: usize,
    /// The largest number of words in a caption.
    pub longest: usize,
}

impl Inference<'_> {
    /// The ids of the words of each image's caption by the first model, without start and end.
    ///
    /// The model must have the functions `encode_image`, `start` and `step`, as
    /// [`Captioner`](fedround_models::Captioner) has.
    pub fn captions(&self, examples: &Examples, search: Search) -> Result<Vec<Vec<i32>>, RunError> {
        let captions = in_batches(self.workers, examples, CHUNK, |i, indices| {
            self.captions_of_chunk(examples, indices, search, i)
        });
        Ok(captions?.concat())
    }

    /// The captions of a chunk of images.
    fn captions_of_chunk(
        &self,
        examples: &Examples,
        indices: &[usize],
        search: Search,
        chunk: usize,
    ) -> Result<Vec<Vec<i32>>, RunError> {
        let device = self.program.device();
        let mut calls = Calls {
            of: self,
            chunk,
            slots: Slots::default(),
        };
        let x = self.images(examples, indices)?;
        let x_type = self.program.model().input(indices.len());
        let (places, shape) = calls.call("encode_image", vec![(x, x_type)])?;
        for_each_image("encode_image", indices.len(), &shape)?;
        let (first, wide) = calls.start(&places, &shape)?;

        let width = search.beam.max(1);
        let words = Words {
            start: START as usize,
            end: END as usize,
            longest: search.longest,
        };
        let states = first.chunks(wide.max(1)).map(<[f32]>::to_vec);
        let mut beams: Vec<_> = states.map(|s| Beam::new(words, width, s)).collect();
        // There is a row for each caption of each beam, also for finished ones.
        let rows = indices.len() * width;
        let own = places.chunks((places.len() / indices.len().max(1)).max(1));
        let places = own.flat_map(|own| std::iter::repeat_n(own, width));
        let places = places.flatten().copied().collect();
        let places_type = TensorType::f32([&[rows], &shape[1..]].concat());
        let places = from_floats(places, &places_type.shape, device);
        loop {
            let open: Vec<_> = beams.iter().map(Beam::open).collect();
            if open.iter().all(Vec::is_empty) {
                break;
            }
            let (last, state) = last_words_and_states(&open, width, wide);
            let (next, each) = calls.step((&places, &places_type), last, state)?;
            let next: Vec<&[f32]> = next.chunks(each).collect();
            for (i, (beam, own)) in beams.iter_mut().zip(&open).enumerate() {
                let rows = next.iter().skip(i * width).take(own.len());
                let scored = rows.map(|row| {
                    let (logits, state) = row.split_at(row.len() - wide);
                    (log_softmax(logits), state.to_vec())
                });
                if !own.is_empty() {
                    beam.extend(scored.collect());
                }
            }
        }
        let captions = beams.into_iter().map(|beam| {
            let words = beam.best().into_iter();
            words.map(|word| word as i32).collect()
        });
        Ok(captions.collect())
    }
}

/// The last words of the open captions, and the decoder's states after them, one row for each caption. The rows of
/// finished captions are zeros.
fn last_words_and_states(
    open: &[Vec<(usize, Vec<f32>)>],
    width: usize,
    wide: usize,
) -> (Vec<i32>, Vec<f32>) {
    let rows = open.len() * width;
    let (mut last, mut state) = (vec![0; rows], vec![0.0; rows * wide]);
    for (i, own) in open.iter().enumerate() {
        for (j, (word, from)) in own.iter().enumerate() {
            let row = i * width + j;
            last[row] = *word as i32;
            state[row * wide..(row + 1) * wide].copy_from_slice(from);
        }
    }
    (last, state)
}

/// Checks that the result of a function has a row for each of `images`.
fn for_each_image(function: &'static str, images: usize, found: &[usize]) -> Result<(), RunError> {
    match found.first() == Some(&images) {
        true => Ok(()),
        false => Err(RunError::Decodes {
            function,
            expected: format!("[{images}, …]: a row for each image"),
            found: found.to_vec(),
        }),
    }
}

/// The number of elements in a row of `step`'s result: the logits of all words, and then the next state.
fn row_size(found: Vec<usize>, rows: usize, wide: usize) -> Result<usize, RunError> {
    match found[..] {
        [n, each] if n == rows && each > wide + END as usize => Ok(each),
        _ => Err(RunError::Decodes {
            function: "step",
            expected: format!(
                "[{rows}, words + {wide}]: logits of all words, and then the next state"
            ),
            found,
        }),
    }
}

/// Calls of the model's functions.
struct Calls<'a> {
    of: &'a Inference<'a>,
    chunk: usize,
    slots: Slots,
}

impl Calls<'_> {
    /// Calls a function, and returns the elements and the shape of its result.
    fn call(
        &mut self,
        name: &'static str,
        inputs: Vec<(DispatchTensor, TensorType)>,
    ) -> Result<(Vec<f32>, Vec<usize>), RunError> {
        let (program, (seed, round)) = (self.of.program, self.of.at);
        let (inputs, types): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let function = program.function(name, types)?;
        let key = StreamKey::new(seed, Purpose::Evaluation).with(round);
        let keys = [key.with(self.chunk)];
        let supplies = function.supplies.tensors(&keys, None, program.device());
        let supplies: Vec<_> = supplies.collect();
        let model = self.of.models.first().copied().unwrap_or_default();
        let inputs = model.iter().cloned().chain(inputs).chain(supplies);
        let outputs = function
            .plan
            .run(program.device(), inputs, &mut self.slots)?;
        let mut outputs = outputs.into_iter();
        let Some(value) = outputs.next() else {
            return Ok(Default::default());
        };
        let shape = value.shape().to_vec();
        Ok((read(value)?, shape))
    }

    /// Calls `step` with the last words `[rows]` and the states `[rows, wide]`. Returns the logits of the next words
    /// and the next states, one row after another, and the size of a row.
    fn step(
        &mut self,
        (places, places_type): (&DispatchTensor, &TensorType),
        last: Vec<i32>,
        state: Vec<f32>,
    ) -> Result<(Vec<f32>, usize), RunError> {
        let device = self.of.program.device();
        let rows = last.len();
        let wide = state.len() / rows.max(1);
        let inputs = vec![
            (places.clone(), places_type.clone()),
            (from_ints(last, &[rows], device), TensorType::i32([rows])),
            (
                from_floats(state, &[rows, wide], device),
                TensorType::f32([rows, wide]),
            ),
        ];
        let (next, found) = self.call("step", inputs)?;
        Ok((next, row_size(found, rows, wide)?))
    }

    /// Calls `start`, and returns the decoder's first states, one after another, and the size of a state.
    fn start(&mut self, places: &[f32], shape: &[usize]) -> Result<(Vec<f32>, usize), RunError> {
        let device = self.of.program.device();
        let places = from_floats(places.to_vec(), shape, device);
        let images = shape.first().copied().unwrap_or_default();
        let (first, shape) = self.call("start", vec![(places, TensorType::f32(shape.to_vec()))])?;
        for_each_image("start", images, &shape)?;
        let wide = first.len() / images.max(1);
        Ok((first, wide))
    }
}

fn log_softmax(logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|z| (z - top).exp()).sum();
    let norm = top + sum.ln();
    logits.iter().map(|z| z - norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_gives_logits_and_a_state() {
        assert_eq!(row_size(vec![4, 30], 4, 20).unwrap(), 30);
        // Logits alone, another number of rows, another rank.
        for found in [vec![4, 20], vec![3, 30], vec![4, 30, 1]] {
            let error = row_size(found, 4, 20).unwrap_err().to_string();
            assert!(
                error.contains("`step`") && error.contains("[4, words + 20]"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_function_gives_a_row_for_each_image() {
        assert!(for_each_image("start", 2, &[2, 8]).is_ok());
        for found in [&[1, 16][..], &[]] {
            let error = for_each_image("start", 2, found).unwrap_err().to_string();
            let expected = format!(
                "the model's `start` gives {found:?}, expected [2, …]: a row for each image"
            );
            assert_eq!(error, expected);
        }
    }
}

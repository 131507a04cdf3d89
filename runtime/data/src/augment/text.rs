//! The text form of augmentation pipelines.

use std::fmt;
use std::str::FromStr;

use fedround_names::nearest;

use super::{Augment, AugmentError, Transform};

const NAMES: [&str; 6] = ["none", "crop", "flip", "rotate", "resize", "normalise"];

impl FromStr for Augment {
    type Err = AugmentError;

    /// Parses steps separated by commas. `none` is the empty pipeline.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "none" {
            return Ok(Self::default());
        }
        let steps = text.split(',').map(|step| step.trim().parse());
        Ok(Self {
            steps: steps.collect::<Result<_, _>>()?,
        })
    }
}

impl FromStr for Transform {
    type Err = AugmentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let bad = |expected| AugmentError::Argument {
            text: text.to_owned(),
            expected,
        };
        let whole = |argument: Option<&str>| argument?.parse::<usize>().ok();
        match name {
            "crop" => whole(argument)
                .filter(|&pad| pad <= LARGEST)
                .map(|pad| Self::Crop { pad })
                .ok_or_else(|| bad("at most 16384 pixels, as in crop:4")),
            "flip" if argument.is_none() => Ok(Self::Flip),
            "flip" => Err(bad("flip alone")),
            "rotate" => argument
                .and_then(|a| a.parse().ok())
                .filter(|d| (0.0..=180.0).contains(d))
                .map(|degrees| Self::Rotate { degrees })
                .ok_or_else(|| bad("degrees from 0 to 180, as in rotate:15")),
            "resize" => whole(argument)
                .filter(|side| (1..=LARGEST).contains(side))
                .map(|side| Self::Resize { side })
                .ok_or_else(|| bad("1 to 16384 pixels, as in resize:224")),
            "normalise" => argument
                .and_then(normalise)
                .ok_or_else(|| bad("means and deviations other than 0, as in normalise:0.5:0.25")),
            _ => Err(AugmentError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, NAMES),
            }),
        }
    }
}

/// The largest side of an image, in pixels. Errors name it.
const LARGEST: usize = 16_384;

fn normalise(argument: &str) -> Option<Transform> {
    let (mean, std) = argument.split_once(':')?;
    let numbers = |text: &str| text.split('/').map(|n| n.parse().ok()).collect();
    let (mean, std): (Option<Vec<f32>>, Option<Vec<f32>>) = (numbers(mean), numbers(std));
    let (mean, std) = (mean?, std?);
    let sound = mean.iter().all(|m| m.is_finite()) && std.iter().all(|s| s.is_normal());
    sound.then_some(Transform::Normalise { mean, std })
}

impl fmt::Display for Augment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("none");
        }
        let steps: Vec<String> = self.steps.iter().map(Transform::to_string).collect();
        f.write_str(&steps.join(","))
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |numbers: &[f32]| {
            let numbers: Vec<String> = numbers.iter().map(f32::to_string).collect();
            numbers.join("/")
        };
        match self {
            Self::Crop { pad } => write!(f, "crop:{pad}"),
            Self::Flip => f.write_str("flip"),
            Self::Rotate { degrees } => write!(f, "rotate:{degrees}"),
            Self::Resize { side } => write!(f, "resize:{side}"),
            Self::Normalise { mean, std } => write!(f, "normalise:{}:{}", all(mean), all(std)),
        }
    }
}

use fedround_names::did_you_mean;

/// Why a text is not an [`Augment`](super::Augment), or a pipeline does not fit some images.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// No step has this name.
    #[error(
        "unknown step `{name}`{}; write crop:PAD, flip, rotate:DEGREES, resize:SIDE or \
         normalise:MEAN:STD, with commas between several", did_you_mean(*nearest)
    )]
    Unknown {
        /// The name that was written.
        name: String,
        /// The step whose name is closest, where one is close.
        nearest: Option<&'static str>,
    },
    /// The part after the colon is missing, or is not what it should be.
    #[error("bad step `{text}`: expected {expected}")]
    Argument {
        /// All that was written of the step.
        text: String,
        /// What should have been.
        expected: &'static str,
    },
    /// A step for images with another number of channels.
    #[error(
        "`{step}` does not fit images with {channels} channels; give one number for all, or one for each"
    )]
    Channels {
        /// The step.
        step: String,
        /// The images' channels.
        channels: usize,
    },
    /// There are no images to change.
    #[error(
        "augment: `{steps}` changes images, and the examples have none: their shape is {shape:?}"
    )]
    NotImages {
        /// The steps.
        steps: String,
        /// The shape of an example.
        shape: Vec<usize>,
    },
}

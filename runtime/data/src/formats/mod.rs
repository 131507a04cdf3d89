//! File formats, apart from the datasets that use them.
//!
//! | format | read by |
//! |---|---|
//! | plain and gzipped files of any kind | [`files`] |
//! | idx arrays of bytes (MNIST) | [`idx`] |
//! | MATLAB 5 arrays (SVHN) | [`mat`] |
//! | text records and JSON (Adult, captions, questions) | [`record`] |
//! | JPEG and PNG pictures | [`images`] |

mod checksums;
pub(crate) mod files;
pub(crate) mod idx;
pub(crate) mod images;
pub(crate) mod mat;
mod quotes;
pub(crate) mod record;
mod record_error;

pub use images::{Fit, ImageFiles};
pub use record_error::RecordError;

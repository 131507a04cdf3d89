//! The two forms of a message's records.

/// How the records of a message travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As objects, which is all that Flower's own apps read.
    Objects,
    /// Small metrics and settings in the message itself, the others as objects: for a [`crate::Party`].
    /// Each object that is saved is a call less at both ends. The party answers in the same form.
    Inline,
}

//! The message of a caught panic.

use std::any::Any;

/// The message that a panic carries, as [`std::panic::catch_unwind`] returns it.
///
/// A payload that is not text gives the words `a panic without a message`.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

//! The text form of both dialects: the parser, and the parts that the printers share with it.
//!
//! A text starts with its dialect and version, `// fedround fed v1` or `// fedround tensor v1`.
//! Names, literals and types are exact, so that a printed program can be read back as the same
//! program. Source locations are not part of the text. Every program is verified after it was read.
//!
//! ```
//! use fedround_ir::text::{Document, parse};
//!
//! let text = "\
//! // fedround tensor v1
//! tensor.graph @square(%x: f32[2]) {
//!   %0 = tensor.mul %x, %x : f32[2]
//!   return y = %0
//! }
//! ";
//! let Document::Tensor(graphs) = parse(text)? else { panic!("another dialect") };
//! assert_eq!(graphs[0].1.nodes.len(), 1);
//!
//! let error = parse(&text.replace("mul", "mull")).unwrap_err();
//! assert!(error.to_string().starts_with("3:8: unknown op `tensor.mull` (did you mean"));
//! # Ok::<(), fedround_ir::text::ParseError>(())
//! ```

pub(crate) mod attribute;
pub(crate) mod codecs;
pub(crate) mod cursor;
mod document;
mod error;
mod header;
pub(crate) mod lexer;
pub(crate) mod parse_attribute;
mod table;

pub use document::{Document, Section, parse, parse_sections};
pub use error::{ParseError, Problem};
pub use header::{FED_VERSION, TENSOR_VERSION};

pub(crate) use error::Span;
pub(crate) use header::{check_header, header};
pub(crate) use table::ops;

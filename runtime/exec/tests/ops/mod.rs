//! Every op of the dialect runs, for one client and for several, and has a row in `docs/ops.md`.

mod docs;
mod examples;

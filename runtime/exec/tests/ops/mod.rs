//! Every op of the dialect runs, for one client and for several, and `docs/ops.md` says what is
//! known of it.

mod docs;
mod examples;

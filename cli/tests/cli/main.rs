//! The command as a user calls it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod adcol;
mod adversary;
mod attack;
mod auxiliaries;
mod bad_data;
mod bad_input;
mod bench;
mod book;
mod changed_data;
mod client_states;
mod cohort_note;
mod compare;
mod compare_stopped;
mod data;
mod disk;
mod doctor;
mod drawing;
mod edited_config;
mod exactness;
mod experiment;
mod explain;
mod extended;
mod faults;
#[cfg(feature = "flower")]
mod federation;
mod folder;
mod goals;
mod graph_phases;
mod inputs;
mod inspect;
mod interrupted;
mod json;
mod kept_models;
mod kills;
mod look;
mod manifest;
mod new;
mod opt;
mod own_data;
mod own_functions;
mod peers;
mod predict;
mod privacy;
mod public;
mod quiet;
mod refused_settings;
mod report;
mod reproduce;
mod reproduced_rows;
mod resume;
mod run;
mod signals;
mod suggestions;
#[cfg(feature = "flower")]
#[path = "../../../runtime/flower/tests/superlink/server.rs"]
#[allow(dead_code, reason = "the tests of the protocol need more of it")]
mod superlink;
mod support;
mod sweep;
mod track;
mod trained;
mod traps;
mod untested_clients;
mod weights;
mod width;
mod words;

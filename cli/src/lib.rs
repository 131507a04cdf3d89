//! The command: one file for each subcommand.
//!
//! A crate of own algorithms gets the whole command with its specs registered:
//!
//! ```no_run
//! use fedround::prelude::*;
//!
//! /// FedAvg with another name.
//! #[derive(Hyper, Debug, Clone)]
//! pub struct Mine<A = fedround::algorithms::FedAvg> {
//!     /// What it runs.
//!     pub base: A,
//! }
//!
//! #[federated(base = base)]
//! impl<A: Algorithm> Algorithm for Mine<A> {}
//!
//! fn main() -> std::process::ExitCode {
//!     fedround_cli::Cli::new().with::<Mine<BoxedAlgorithm>>().main()
//! }
//! ```

mod args;
mod assets;
mod auxiliaries;
mod bench;
mod compare;
mod config;
mod convolution_cache;
mod data;
mod diff;
mod doctor;
mod error;
mod explain;
mod graph;
mod hypers;
mod inspect;
mod list;
mod opt;
mod output;
mod passes;
mod plot;
mod privacy;
mod reproduce;
mod run;
mod settings;
mod sheet;
mod sheets;

use std::ffi::OsString;
use std::process::ExitCode;

use burn::tensor::Device;
use clap::Parser;
use fedround_dsl::{Registered, Registry};
use fedround_models::{Loss, Losses, Model, Task};

use args::{Args, Command};
use assets::OwnModel;
use error::CliError;

/// The command with the bundled algorithms, on the process's arguments.
pub fn main() -> ExitCode {
    Cli::new().main()
}

/// What the command knows by name.
#[derive(Clone)]
pub struct Cli {
    registry: Registry,
    losses: Losses,
    models: Vec<OwnModel>,
}

impl Default for Cli {
    fn default() -> Self {
        Self::new()
    }
}

impl Cli {
    /// The bundled algorithms, models and losses.
    pub fn new() -> Self {
        Self {
            registry: fedround_algorithms::registry(),
            losses: Losses::default(),
            models: vec![],
        }
    }

    /// Adds an algorithm; a plug-in is named with `BoxedAlgorithm` as its base, as in
    /// `with::<FedProx<BoxedAlgorithm>>()`. One of the same name is replaced.
    #[must_use]
    pub fn with<T: Registered>(mut self) -> Self {
        self.registry = self.registry.with_type::<T>();
        self
    }

    /// Adds a loss, which specs call with `loss("name", (&a, &b))`.
    #[must_use]
    pub fn loss<A>(mut self, name: &'static str, loss: impl Loss<A>) -> Self {
        self.losses = self.losses.with(name, loss);
        self
    }

    /// Adds a model, made for a task. Weights of linear and convolutional layers may have any
    /// values, for a run draws its own; other layers start as they are made. A model of the same
    /// name is replaced.
    #[must_use]
    pub fn model(
        mut self,
        name: &'static str,
        doc: &'static str,
        make: fn(Task, &Device) -> Box<dyn Model>,
    ) -> Self {
        self.models.retain(|own| own.name != name);
        self.models.push(OwnModel { name, doc, make });
        self
    }

    /// Runs the command on the process's arguments; errors go to stderr.
    pub fn main(&self) -> ExitCode {
        self.run(std::env::args_os())
    }

    /// Runs the command on arguments of which the first is the program's name.
    pub fn run<I>(&self, args: I) -> ExitCode
    where
        I: IntoIterator,
        I::Item: Into<OsString> + Clone,
    {
        let args = match Args::try_parse_from(args) {
            Ok(args) => args,
            Err(error) => {
                // clap's own text; a closed stderr leaves nobody to tell.
                let _ = error.print();
                return if error.use_stderr() {
                    ExitCode::from(error::USAGE)
                } else {
                    ExitCode::SUCCESS
                };
            }
        };
        self.dispatch(&args.command).unwrap_or_else(|error| {
            error.report();
            ExitCode::from(error.code())
        })
    }

    fn dispatch(&self, command: &Command) -> Result<ExitCode, CliError> {
        match command {
            Command::Run(args) => return run::run(self, args),
            Command::Compare(args) => return compare::compare(self, args),
            Command::Inspect(args) => return inspect::inspect(self, args),
            Command::Reproduce(args) => return reproduce::reproduce(self, args),
            Command::List(args) => list::list(self, args)?,
            Command::Data(args) => data::data(args)?,
            Command::Graph(args) => graph::graph(self, args)?,
            Command::Opt(args) => opt::opt(args)?,
            Command::Explain(args) => explain::explain(self, args)?,
            Command::Bench(args) => bench::bench(self, args)?,
            Command::Doctor(args) => doctor::doctor(args)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

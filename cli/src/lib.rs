//! The command: a file or a folder for each subcommand, and folders of what they share.
//!
//! `eval`, `predict` and `export` are in the folder `trained`, because they start from a finished run; `graph` and `opt`
//! are in `compile`. `coordinator` and `party` are in `federation`. `resume` is in `run`, and `completions` and `man` are in `args`. `settings` turns files and flags
//! into what a run depends on.
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

mod advice;
mod args;
mod bench;
mod catalog;
mod compare;
mod compile;
mod config;
mod data;
mod doctor;
mod drawing;
mod error;
mod explain;
#[cfg(feature = "flower")]
mod federation;
mod files;
mod inspect;
mod list;
mod new;
mod plot;
mod report;
mod reproduce;
mod run;
mod settings;
mod sweep;
mod terminal;
mod trained;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use burn::tensor::Device;
use fedround_dsl::Registered;
use fedround_models::{AnyTensor, Loss, Model, Task};

use args::{Args, Command};
use catalog::{Catalog, OwnModel};
use error::CliError;

/// The command with the bundled algorithms, on the process's arguments.
pub fn main() -> ExitCode {
    Cli::new().main()
}

/// The command, with the algorithms, models and losses that it knows by name.
#[derive(Clone, Default)]
pub struct Cli(Catalog);

impl Cli {
    /// The bundled algorithms, models and losses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an algorithm; a plug-in is named with `BoxedAlgorithm` as its base, as in
    /// `with::<FedProx<BoxedAlgorithm>>()`. One of the same name is replaced, also a bundled one.
    #[must_use]
    pub fn with<T: Registered>(mut self) -> Self {
        self.0.registry = self.0.registry.with_type::<T>();
        self
    }

    /// Adds a loss, which specs call with `loss("name", (&a, &b))`. One of the same name is replaced, also a
    /// bundled one: algorithms that use it then train on yours.
    #[must_use]
    pub fn loss<A>(mut self, name: &'static str, loss: impl Loss<A>) -> Self {
        self.0.losses = self.0.losses.with(name, loss);
        self
    }

    /// Adds a function without parameters from tensors to a tensor, which specs call with
    /// `function("name", (&x, &y))`. One of the same name is replaced, also a bundled one.
    #[must_use]
    pub fn function<A, R: Into<AnyTensor> + 'static>(
        mut self,
        name: &'static str,
        function: impl Loss<A, R>,
    ) -> Self {
        self.0.losses = self.0.losses.with_function(name, function);
        self
    }

    /// Adds a model, by a function that makes it for a task and may capture what else the model depends on.
    /// Weights of linear and convolutional layers may have any values, for a run draws its own; other layers
    /// start as they are made. A model of the same name is replaced.
    #[must_use]
    pub fn model(
        mut self,
        name: &'static str,
        doc: &'static str,
        make: impl Fn(Task, &Device) -> Box<dyn Model> + Send + Sync + 'static,
    ) -> Self {
        self.0.models.retain(|own| own.name != name);
        self.0.models.push(OwnModel {
            name,
            doc,
            make: Arc::new(make),
        });
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
        let args = match Args::read(args) {
            Ok(args) => args,
            Err(error) => {
                let error = advice::usage::of_usage(error, &self.0.registry);
                // A closed stderr leaves nobody to tell.
                let _ = error.print();
                return if error.use_stderr() {
                    ExitCode::from(advice::USAGE)
                } else {
                    ExitCode::SUCCESS
                };
            }
        };
        self.dispatch(&args.command).unwrap_or_else(|error| {
            advice::report(&error);
            ExitCode::from(advice::exit_code(&error))
        })
    }

    fn dispatch(&self, command: &Command) -> Result<ExitCode, CliError> {
        let catalog = &self.0;
        match command {
            Command::Run(args) => return run::run(catalog, args),
            Command::Resume(args) => return run::resume(catalog, args),
            #[cfg(feature = "flower")]
            Command::Coordinator(args) => return federation::coordinator(catalog, args),
            #[cfg(feature = "flower")]
            Command::Party(args) => return federation::party(catalog, args),
            #[cfg(feature = "flower")]
            Command::Federation(args) => match &args.command {
                federation::FederationCommand::Status(args) => federation::status(args)?,
                federation::FederationCommand::Stop(args) => federation::stop(args)?,
            },
            Command::Compare(args) => return compare::compare(catalog, args),
            Command::Sweep(args) => return sweep::sweep(catalog, args.clone()),
            Command::Inspect(args) => return inspect::inspect(catalog, args),
            Command::Report(args) => report::report(catalog, args)?,
            Command::Reproduce(args) => return reproduce::reproduce(catalog, args),
            Command::Export(args) => trained::export(catalog, args)?,
            Command::Eval(args) => trained::eval(catalog, args)?,
            Command::Predict(args) => trained::predict(catalog, args)?,
            Command::New(args) => new::new(args)?,
            Command::List(args) => list::list(catalog, args)?,
            Command::Config(args) => config::config(catalog, args)?,
            Command::Completions(args) => args::manual::completions(args)?,
            Command::Man(args) => args::manual::man(args)?,
            Command::Data(args) => data::data(args)?,
            Command::Graph(args) => compile::graph(catalog, args)?,
            Command::Opt(args) => compile::opt(args)?,
            Command::Explain(args) => explain::explain(catalog, args)?,
            Command::Bench(args) => bench::bench(catalog, args)?,
            Command::Doctor(args) => doctor::doctor(args)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

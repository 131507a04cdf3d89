//! The devices on which a simulation's clients train.

use std::collections::BTreeSet;

use burn_backend::Backend;
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_data::Examples;
use fedround_ir::fed::Kind;

use rayon::ThreadPoolBuildError;

use super::Simulation;
use crate::cohort_batch::CohortBatch;
use crate::context::RoundContext;
use crate::device_data::DeviceData;
use crate::device_examples::DeviceExamples;
use fedround_exec::CompileError;
use fedround_exec::device::{catch_panic, gpu_info, is_cpu, register_training_device};
use fedround_exec::{Device, DeviceError, ExecError};

use crate::error::RunError;
use crate::evaluation::personal_models::EvaluationProgram;
use fedround_exec::GraphCapture;
use fedround_exec::Program;
use fedround_exec::capture::StepCache;

/// The absent clients where all are there.
static NOBODY: BTreeSet<usize> = BTreeSet::new();

/// A device, and what is compiled and recorded for it.
pub(crate) struct Site {
    pub program: Program,
    /// Make the clients' own models, where they have any: that without a name first.
    pub evaluations: Vec<EvaluationProgram>,
    /// How many clients run in one graph.
    pub group: usize,
    /// The recorded steps, where steps are recorded.
    pub replays: Option<StepCache>,
    /// The clients' examples, if its memory holds them.
    pub examples: Option<DeviceExamples>,
    /// Whether the examples were copied, or will not be.
    pub has_looked: bool,
}

/// For recorded steps, if steps are recorded on the program's device.
fn cache(program: &Program, graphs: GraphCapture) -> Option<StepCache> {
    let records = graphs.records_on(program.device());
    records.then(|| StepCache::new(graphs))
}

impl Site {
    pub fn new(program: Program, batch: CohortBatch) -> Self {
        register_training_device(program.device());
        Self {
            group: batch.clients(&program),
            replays: cache(&program, GraphCapture::default()),
            program,
            evaluations: vec![],
            examples: None,
            has_looked: false,
        }
    }

    /// How many threads feed it, of as many as a CPU gets: a GPU runs one graph at a time.
    pub fn feeding(&self, threads: usize) -> usize {
        match is_cpu(self.program.device()) {
            true => threads,
            false => 1,
        }
    }

    /// The same on another device.
    fn on(&self, device: &DispatchDevice, batch: CohortBatch) -> Self {
        let evaluations = self.evaluations.iter().map(|own| own.on(device));
        Self {
            evaluations: evaluations.collect(),
            ..Self::new(self.program.for_device(device), batch)
        }
    }

    /// The program that makes the models of an evaluation.
    pub fn evaluation(&self, name: Option<&str>) -> Option<&Program> {
        let mut all = self.evaluations.iter();
        let found = all.find(|own| own.name.as_deref() == name);
        found.map(|own| &own.program)
    }

    /// Chooses whether steps are recorded.
    pub fn record(&mut self, graphs: GraphCapture) -> Result<(), RunError> {
        let cpu = is_cpu(self.program.device());
        if cpu && graphs == GraphCapture::Require {
            return Err(RunError::CaptureOnCpu);
        }
        self.replays = cache(&self.program, graphs);
        Ok(())
    }

    /// A copy of the examples that its programs read, if they fit.
    fn copied(
        &self,
        examples: &Examples,
        data: DeviceData,
    ) -> Result<Option<DeviceExamples>, RunError> {
        let mut columns: Vec<(String, Kind)> = vec![];
        let others = self.evaluations.iter().map(|own| &own.program);
        for program in std::iter::once(&self.program).chain(others) {
            for (_, phase) in program.phases() {
                let own = phase.schedule().columns.iter().cloned();
                let new: Vec<_> = own.filter(|column| !columns.contains(column)).collect();
                columns.extend(new);
            }
        }
        let device = self.program.device();
        DeviceExamples::upload(examples, &columns, data.budget(device), device)
    }

    /// Gives back what a round without enough memory leaves: recorded steps of as many clients, examples,
    /// and what the device keeps for tensors of these sizes.
    pub fn free(&mut self) {
        self.examples = None;
        if let Some(replays) = &self.replays {
            replays.clear();
        }
        Dispatch::memory_cleanup(self.program.device());
    }
}

/// The error of workers that cannot be started.
pub(crate) fn no_thread(error: ThreadPoolBuildError) -> RunError {
    RunError::Thread(std::io::Error::other(error))
}

impl Simulation {
    /// Adds devices on which clients train. The clients of a round are dealt to all devices in turn.
    /// Each device gets the model once and trains its clients in groups and on threads of its own;
    /// their results are aggregated in a fixed order. The program's own device also does the
    /// server's work and evaluates. Results repeat from run to run, and agree with those of one
    /// device within rounding error.
    ///
    /// # Errors
    ///
    /// A device cannot be used, is already there, or cannot capture graphs where
    /// [`with_graph_capture`](Self::with_graph_capture) requires it; or the system gives no worker
    /// threads.
    pub fn with_devices(mut self, more: &[Device]) -> Result<Self, RunError> {
        for device in more {
            let target = device.with_precision(self.home.program.precision());
            let opened = target.open().map_err(CompileError::from)?;
            if self.sites().any(|site| *site.program.device() == opened) {
                let device = *device;
                return Err(CompileError::from(DeviceError::Twice { device }).into());
            }
            self.add(&opened)?;
        }
        Ok(self)
    }

    /// Bytes of GPU memory that are reserved for this process, including freed memory that is kept for
    /// later; `None` if clients train on the CPU alone.
    pub fn device_memory(&self) -> Option<u64> {
        let sites = self.sites();
        let reserved = sites.filter_map(|site| Some(gpu_info(site.program.device())?.reserved));
        reserved.reduce(|a, b| a + b)
    }

    /// Has clients train on a further device.
    pub(crate) fn add(&mut self, device: &DispatchDevice) -> Result<(), RunError> {
        let mut site = self.home.on(device, self.batch);
        site.record(self.graphs)?;
        let added = self.workers.add(site.feeding(self.threads));
        added.map_err(no_thread)?;
        self.beside.push(site);
        Ok(())
    }

    /// Copies the clients' examples to the devices that hold them, before the first round. Batches of other
    /// devices are copied from the host one by one, and so are those whose images are changed or decoded.
    pub(crate) fn load_examples(&mut self) -> Result<(), RunError> {
        let new = !self.home.has_looked && self.augment.is_empty();
        self.sites_mut().for_each(|site| site.has_looked = true);
        if !new {
            return Ok(());
        }
        let (sites, examples) = (self.sites().collect::<Vec<_>>(), &self.dataset.examples);
        // A device's worker copies: a recorded step reads nothing that another thread has made.
        let copied = self.guarded(|| {
            let (at, mut all): (Vec<usize>, _) = ((0..sites.len()).collect(), vec![]);
            let copy = |i: usize| sites[i].copied(examples, self.device_data);
            self.workers
                .stream(&at, 1, copy, |_, copied| all.push(copied));
            all.into_iter().collect::<Result<Vec<_>, _>>()
        });
        match copied {
            Err(RunError::Exec(ExecError::OutOfMemory(_))) => self.sites_mut().for_each(Site::free),
            copied => {
                for (site, own) in self.sites_mut().zip(copied?) {
                    site.examples = own;
                }
            }
        }
        Ok(())
    }

    /// How many devices hold the clients' examples; see [`with_device_data`](Self::with_device_data).
    pub fn devices_with_examples(&self) -> usize {
        self.sites().filter(|site| site.examples.is_some()).count()
    }

    pub(crate) fn sites(&self) -> impl Iterator<Item = &Site> {
        std::iter::once(&self.home).chain(&self.beside)
    }

    pub(crate) fn sites_mut(&mut self) -> impl Iterator<Item = &mut Site> {
        std::iter::once(&mut self.home).chain(&mut self.beside)
    }

    /// Runs work on the devices, of which a GPU's libraries may panic.
    pub(crate) fn guarded<T>(
        &self,
        work: impl FnOnce() -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        catch_panic(self.sites().map(|site| site.program.device()), work)
    }

    /// What a round without the clients in `absent` reads at home, and on the devices beside. Up to
    /// `most` clients run in one graph.
    pub(crate) fn contexts<'a>(
        &'a self,
        round: usize,
        most: usize,
        absent: &'a BTreeSet<usize>,
    ) -> (RoundContext<'a>, Vec<RoundContext<'a>>) {
        let cx = |site: &'a Site| self.context(site, &site.program, (round, absent), most);
        (cx(&self.home), self.beside.iter().map(cx).collect())
    }

    /// The same of the program that makes the clients' own models after a round for an evaluation, where they
    /// have any.
    pub(crate) fn personal_contexts(
        &self,
        evaluation: Option<&str>,
        round: usize,
        most: usize,
    ) -> Option<(RoundContext<'_>, Vec<RoundContext<'_>>)> {
        let programs = self.sites();
        let programs = programs.filter_map(|site| Some((site, site.evaluation(evaluation)?)));
        // Everyone's model is made, whoever fails.
        let mut all = programs.map(|(site, own)| RoundContext {
            fates: None,
            ..self.context(site, own, (round, &NOBODY), most)
        });
        Some((all.next()?, all.collect()))
    }

    fn context<'a>(
        &'a self,
        site: &'a Site,
        program: &'a Program,
        (round, absent): (usize, &'a BTreeSet<usize>),
        most: usize,
    ) -> RoundContext<'a> {
        // Beside workers on all cores, a thread more would but take their time.
        let spare = site.feeding(self.threads) < self.cores;
        let scheduled = self.scheduled(round);
        let program = program.at(scheduled);
        let resident = site.examples.as_ref();
        RoundContext {
            program,
            resident: resident.filter(|own| own.has(&program.schedule().columns)),
            group: site.group.min(most),
            dataset: &self.dataset,
            public: self.public.as_ref(),
            seed: self.seed,
            secret: self.secret.as_ref(),
            augment: &self.augment,
            prefetch: self.prefetch.unwrap_or(usize::from(spare)),
            replays: site.replays.as_ref(),
            population: None,
            everyone: None,
            newcomer: self.newcomer,
            absent,
            fates: self.fates(round, scheduled),
            least: self.faults.min_clients,
            round,
            scheduled,
        }
    }
}

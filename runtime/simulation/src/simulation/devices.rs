//! The devices on which a simulation's clients train.

use std::collections::BTreeSet;
use std::sync::Arc;

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
use fedround_exec::device::{
    catch_panic, gpu_info, is_cpu, register_training_device, with_gpu_access,
};
use fedround_exec::{Device, DeviceError, ExecError};

use crate::error::RunError;
use crate::evaluation::personal_models::EvaluationProgram;
use fedround_exec::GraphCapture;
use fedround_exec::Program;
use fedround_exec::capture::StepCache;

/// The set of absent clients of a round without absent clients.
static NO_CLIENTS: BTreeSet<usize> = BTreeSet::new();

/// A device on which clients train, with the programs that are compiled for it.
pub(crate) struct TrainingDevice {
    pub program: Arc<Program>,
    /// The programs that make the clients' personal models, the one without a name first. Empty if all clients use the
    /// global model.
    pub evaluations: Vec<EvaluationProgram>,
    /// The largest number of clients in one graph.
    pub group_size: usize,
    /// Captured steps; `None` if steps are not captured on this device.
    pub step_cache: Option<StepCache>,
    /// The clients' examples in the device's memory; `None` if they do not fit, or are not copied.
    pub examples: Option<DeviceExamples>,
}

/// A cache for captured steps, if steps are captured on the program's device.
fn step_cache(program: &Program, graphs: GraphCapture) -> Option<StepCache> {
    let captures = graphs.records_on(program.device());
    captures.then(|| StepCache::new(graphs))
}

impl TrainingDevice {
    pub fn new(program: Arc<Program>, batch: CohortBatch) -> Self {
        register_training_device(program.device());
        Self {
            group_size: batch.clients(&program),
            step_cache: step_cache(&program, GraphCapture::default()),
            program,
            evaluations: vec![],
            examples: None,
        }
    }

    /// The number of worker threads: `threads` for a CPU, and one for a GPU, which runs one graph at a time.
    pub fn worker_threads(&self, threads: usize) -> usize {
        match is_cpu(self.program.device()) {
            true => threads,
            false => 1,
        }
    }

    /// The same programs on another device.
    fn for_device(&self, device: &DispatchDevice, batch: CohortBatch) -> Self {
        let evaluations = self.evaluations.iter();
        let evaluations = evaluations.map(|evaluation| evaluation.for_device(device));
        Self {
            evaluations: evaluations.collect(),
            ..Self::new(Arc::new(self.program.for_device(device)), batch)
        }
    }

    /// The program that makes the models of an evaluation; `None` if there is no evaluation of this name.
    pub fn evaluation(&self, name: Option<&str>) -> Option<&Program> {
        let mut evaluations = self.evaluations.iter();
        let found = evaluations.find(|evaluation| evaluation.name.as_deref() == name);
        found.map(|evaluation| &evaluation.program)
    }

    /// Chooses whether steps are captured. Drops the steps that were captured before.
    pub fn set_graph_capture(&mut self, graphs: GraphCapture) -> Result<(), RunError> {
        let cpu = is_cpu(self.program.device());
        if cpu && graphs == GraphCapture::Require {
            return Err(RunError::CaptureOnCpu);
        }
        self.step_cache = step_cache(&self.program, graphs);
        Ok(())
    }

    /// Copies the columns of the examples that its programs read to the device; `None` if they do not fit.
    fn copy_examples(
        &self,
        examples: &Examples,
        data: DeviceData,
    ) -> Result<Option<DeviceExamples>, RunError> {
        let mut columns: Vec<(String, Kind)> = vec![];
        let evaluations = self.evaluations.iter();
        let evaluations = evaluations.map(|evaluation| &evaluation.program);
        for program in std::iter::once(&*self.program).chain(evaluations) {
            for (_, phase) in program.phases() {
                let read = phase.schedule().columns.iter().cloned();
                let new: Vec<_> = read.filter(|column| !columns.contains(column)).collect();
                columns.extend(new);
            }
        }
        let device = self.program.device();
        DeviceExamples::upload(examples, &columns, data.budget(device), device)
    }

    /// Frees memory after a round that ran out of it: captured steps, the examples on the device, and memory that the
    /// device keeps for reuse.
    pub fn free_memory(&mut self) {
        self.examples = None;
        self.free_reusable_memory();
    }

    /// Frees what later work makes again: captured steps, and memory that the device keeps for reuse.
    pub fn free_reusable_memory(&self) {
        with_gpu_access(|| {
            if let Some(step_cache) = &self.step_cache {
                step_cache.clear();
            }
            // Frees the memory of all streams, also those of the workers, and waits for the device.
            Dispatch::memory_cleanup(self.program.device());
        });
    }
}

/// The error if worker threads cannot be started.
pub(crate) fn no_thread(error: ThreadPoolBuildError) -> RunError {
    RunError::Thread(std::io::Error::other(error))
}

impl Simulation {
    /// Adds devices on which clients train. The clients of a round are assigned to all devices in turn. Each device
    /// receives the model once, and trains its clients in groups and on worker threads of its own. Their results are
    /// aggregated in a fixed order. The program's own device also does the server's work and evaluates models. Results
    /// repeat from run to run as far as the devices' kernels do, and agree with those of one device within rounding
    /// error.
    ///
    /// # Errors
    ///
    /// A device cannot be used, was added before, or cannot capture graphs although
    /// [`with_graph_capture`](Self::with_graph_capture) requires it; or the system cannot start worker threads.
    pub fn with_devices(mut self, more: &[Device]) -> Result<Self, RunError> {
        for device in more {
            let target = device.with_precision(self.main_device.program.precision());
            let opened = target.open().map_err(CompileError::from)?;
            if self
                .devices()
                .any(|device| *device.program.device() == opened)
            {
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
        let devices = self.devices();
        let reserved =
            devices.filter_map(|device| Some(gpu_info(device.program.device())?.reserved));
        reserved.reduce(|a, b| a + b)
    }

    /// Adds a device on which clients train.
    pub(crate) fn add(&mut self, device: &DispatchDevice) -> Result<(), RunError> {
        let mut device = self.main_device.for_device(device, self.batch);
        device.set_graph_capture(self.graphs)?;
        let added = self.workers.add(device.worker_threads(self.threads));
        added.map_err(no_thread)?;
        self.extra_devices.push(device);
        Ok(())
    }

    /// Copies the clients' examples to the devices whose memory holds them, before the first round. For other devices,
    /// and for images that are augmented or decoded, each batch is copied from host memory when it is needed.
    pub(crate) fn load_examples(&mut self) -> Result<(), RunError> {
        let was_decided = std::mem::replace(&mut self.examples_decided, true);
        if was_decided || !self.augment.is_empty() {
            return Ok(());
        }
        let (devices, examples) = (self.devices().collect::<Vec<_>>(), &self.dataset.examples);
        // Each device's own worker copies, because a captured step cannot read tensors that another thread has made.
        let copied = self.guarded(|| {
            let (indices, mut copies): (Vec<usize>, _) = ((0..devices.len()).collect(), vec![]);
            let copy = |i: usize| devices[i].copy_examples(examples, self.device_data);
            self.workers
                .stream(&indices, 1, copy, |_, copied| copies.push(copied));
            copies.into_iter().collect::<Result<Vec<_>, _>>()
        });
        match copied {
            Err(RunError::Exec(ExecError::OutOfMemory(_))) => {
                self.devices_mut().for_each(TrainingDevice::free_memory)
            }
            copied => {
                for (device, examples) in self.devices_mut().zip(copied?) {
                    device.examples = examples;
                }
            }
        }
        Ok(())
    }

    /// How many devices hold the clients' examples; see [`with_device_data`](Self::with_device_data).
    pub fn devices_with_examples(&self) -> usize {
        self.devices()
            .filter(|device| device.examples.is_some())
            .count()
    }

    /// The main device, and then the others.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &TrainingDevice> {
        std::iter::once(&self.main_device).chain(&self.extra_devices)
    }

    /// The main device, and then the others.
    pub(crate) fn devices_mut(&mut self) -> impl Iterator<Item = &mut TrainingDevice> {
        std::iter::once(&mut self.main_device).chain(&mut self.extra_devices)
    }

    /// Runs work on the devices. A panic of a GPU's libraries becomes an error.
    pub(crate) fn guarded<T>(
        &self,
        work: impl FnOnce() -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        catch_panic(self.devices().map(|device| device.program.device()), work)
    }

    /// The contexts of a round without the clients in `absent`: of the main device, and then of the others. Up to
    /// `max_group` clients run in one graph.
    pub(crate) fn contexts<'a>(
        &'a self,
        round: usize,
        max_group: usize,
        absent: &'a BTreeSet<usize>,
    ) -> Vec<RoundContext<'a>> {
        let cx = |device: &'a TrainingDevice| {
            self.context(device, &device.program, (round, absent), max_group)
        };
        self.devices().map(cx).collect()
    }

    /// The same for the program that makes the clients' personal models of an evaluation after a round; `None` if there
    /// is no such evaluation.
    pub(crate) fn personal_contexts(
        &self,
        evaluation: Option<&str>,
        round: usize,
        max_group: usize,
    ) -> Option<Vec<RoundContext<'_>>> {
        let contexts = self.devices().map(|device| {
            let program = device.evaluation(evaluation)?;
            // Models are made for all clients: nobody fails in an evaluation, and of parties any number may be there.
            Some(RoundContext {
                fates: None,
                min_clients: 1,
                ..self.context(device, program, (round, &NO_CLIENTS), max_group)
            })
        });
        contexts.collect()
    }

    /// The context of a round on one device.
    fn context<'a>(
        &'a self,
        device: &'a TrainingDevice,
        program: &'a Program,
        (round, absent): (usize, &'a BTreeSet<usize>),
        max_group: usize,
    ) -> RoundContext<'a> {
        // If the workers use all cores, a prefetching thread would only slow them down.
        let has_spare_core = device.worker_threads(self.threads) < self.cores;
        let scheduled = self.scheduled(round);
        let (phase, program) = (program.phase_of(scheduled).0, program.at(scheduled));
        let examples = device.examples.as_ref();
        RoundContext {
            program,
            device_examples: examples.filter(|examples| examples.has(&program.schedule().columns)),
            group_size: device.group_size.min(max_group),
            dataset: &self.dataset,
            public: self.public.as_ref(),
            seed: self.seed,
            secret: self.secret.as_ref(),
            augment: &self.augment,
            prefetch: self.prefetch.unwrap_or(usize::from(has_spare_core)),
            step_cache: device.step_cache.as_ref(),
            population: None,
            client_subset: None,
            late_client: self.late_client,
            absent,
            fates: self.fates(round, scheduled),
            min_clients: self.faults.min_clients,
            round,
            scheduled,
            phase,
        }
    }
}

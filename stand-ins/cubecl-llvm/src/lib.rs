//! The items of the real `cubecl-llvm` that `cubecl-cuda` names, without the compiler: see the README.
//!
//! Nothing here is called in a build with cubecl's feature `cuda-cpp`. Without that feature,
//! compiling a kernel is an error.

use core::fmt;

use cubecl_core::ir::amd::GfxArch;
use cubecl_core::ir::nvidia::SmArch;
use cubecl_environment::backtrace::BackTrace;
use cubecl_runtime::compiler::{CompilationError, Compiler};
use cubecl_runtime::kernel::{BufferIOAttr, KernelDefinition};

use crate::nvptx::ptx_version::PtxVersion;

/// Versions of NVIDIA's assembler language.
pub mod nvptx {
    /// The version that a driver loads.
    pub mod ptx_version {
        use core::fmt;

        /// A version of PTX. There is none here: only the LLVM compiler reads it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PtxVersion {}

        impl PtxVersion {
            /// Always `None`, which in the real crate leaves the choice to LLVM.
            pub fn for_driver(_driver: i32) -> Option<Self> {
                None
            }
        }

        impl fmt::Display for PtxVersion {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {}
            }
        }
    }
}

/// What the compiler's targets have in common.
pub mod shared {
    /// The features of a device that the LLVM compiler can use.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// The kind of GPU that features are narrowed for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA's.
            Nvptx,
        }

        /// Leaves the features as they are, since no kernel will be compiled for them.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}

/// What the compiler writes code for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LlvmTarget {
    /// NVIDIA's GPUs.
    #[default]
    Nvptx,
}

/// The compiler that is not here: [`compile`](Compiler::compile) is an error.
#[derive(Clone, Debug, Default)]
pub struct PlironCompiler {
    /// What code would be written for.
    pub target: LlvmTarget,
}

/// The compiler's options, which nothing reads.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// AMD's architecture.
    pub arch: Option<GfxArch>,
    /// NVIDIA's architecture.
    pub sm_arch: Option<SmArch>,
    /// The version of PTX to write.
    pub ptx_version: Option<PtxVersion>,
    /// Whether scalars are in the block of a kernel's parameters.
    pub grid_constants: bool,
}

/// A compiled kernel. The compiler never makes one.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// PTX with a zero at its end.
    pub ptx: Vec<core::ffi::c_char>,
    /// The kernel's name in it.
    pub entrypoint: String,
    /// The text that logs show.
    pub ir: String,
    /// Shared memory of a launch, in bytes.
    pub shared_memory_size: usize,
    /// How the kernel uses each of its buffers.
    pub io: Vec<BufferIOAttr>,
}

/// What compiling gives.
#[derive(Clone, Debug)]
pub enum PlironArtifact {
    /// A kernel for NVIDIA's GPUs.
    NvptxCode(NvptxModule),
}

impl fmt::Display for PlironArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NvptxCode(module) => f.write_str(&module.ir),
        }
    }
}

impl Compiler for PlironCompiler {
    type Representation = PlironArtifact;
    type CompilationOptions = PlironOptions;

    fn compile(
        &mut self,
        _kernel: KernelDefinition,
        _options: &Self::CompilationOptions,
    ) -> Result<Self::Representation, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this build has a stand-in for cubecl-llvm, which cannot compile kernels: \
                     build with cubecl's feature `cuda-cpp`, which compiles CUDA C++, or without \
                     the patch that puts the stand-in in place"
                .into(),
            backtrace: BackTrace::capture(),
        })
    }

    fn extension(&self) -> &'static str {
        "ll"
    }

    fn lang_tag(&self) -> &'static str {
        "llvm"
    }
}

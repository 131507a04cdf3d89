//! The arguments of `fedround report`.

use std::path::PathBuf;

use clap::Args;

use crate::drawing::Picture;

const EXAMPLES: &str = "\
Examples:
  fedround report runs/mu01                         a run
  fedround report runs/skew --open                  a comparison or a sweep, shown in the browser
  fedround report runs/skew --format pdf            and its drawings as PDF, for a paper

The page is one file that needs no network, so that it can be sent to somebody. It holds the
configuration and the command, the results, learning curves, accuracies of classes and clients,
who has which examples, what was sent, and the algorithm with its drawing. Curves of several seeds
have bands: Student's 95 % intervals of the mean. The data is read again to see who has what; if it
is not there or has changed since the run, the page says so and has the rest.

With --format, the folder may also be one of `fedround inspect`, of which there is no page.";

/// Writes `report.html` into the folder of a run or a comparison.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Folder of a run, a comparison or a sweep
    pub dir: PathBuf,
    /// Write the folder's drawings (*.svg) as PNG or PDF, too, beside them; needs a build with --features
    /// raster
    #[arg(long, value_enum)]
    pub format: Option<Picture>,
    /// Show it in the browser
    #[arg(long)]
    pub open: bool,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

//! The flag that says what CPU and memory cost.

use std::sync::Arc;

use dayshift_workload::savings::Price;

#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// Show what is saved in money too: the price of an hour of a CPU core and of a GiB of memory,
    /// such as cpu=0.031,memory=0.0042,currency=EUR
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) price: Option<Arc<Price>>,
}

fn price(text: &str) -> Result<Arc<Price>, String> {
    let price = Price::parse(text).map(Arc::new);
    price.map_err(|error| error.to_string())
}

//! The README's agent with a tool of its own.

use insomnia_tasks::{IntoToolOutput, Pod, Run, Tool, ToolError, schemars};

/// Look up the weather of a city.
#[derive(serde::Deserialize, schemars::JsonSchema, Tool)]
struct Weather {
    city: String,
}

impl Run<()> for Weather {
    async fn run(self, _: &()) -> Result<impl IntoToolOutput, ToolError> {
        Ok(format!("sunny in {}", self.city))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Pod::builder(&async_openai::Client::new(), "gpt-5-mini").tool::<Weather, ()>(Default::default());
    let pod = agent.session("sessions/trip").build().await?;
    println!("{}", pod.run("Plan a week in three cities. Keep a task list.").await?.text);
    Ok(())
}

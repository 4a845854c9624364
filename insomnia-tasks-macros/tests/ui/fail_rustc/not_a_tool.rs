use insomnia_tasks::ToolDefinition;

struct Read {}

fn main() {
    let _ = ToolDefinition::of::<Read>();
}

use insomnia_tasks::Tool;

/// Read.
#[derive(Tool)]
union T {
    a: u8,
    b: i8,
}

fn main() {}

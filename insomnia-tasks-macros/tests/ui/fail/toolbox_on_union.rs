use insomnia_tasks::Toolbox;

#[derive(Toolbox)]
union Tools {
    read: u8,
}

fn main() {
    let _ = Tools::definitions();
}

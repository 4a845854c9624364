use insomnia_tasks::Toolbox;

enum Tools {}

fn offer<T: Toolbox>() {}

fn main() {
    offer::<Tools>();
}

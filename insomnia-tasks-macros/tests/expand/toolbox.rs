#[derive(Toolbox)]
pub enum Tools {
    Read(ReadFile),
    Search(files::Search),
}

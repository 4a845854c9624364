#[derive(Toolbox)]
enum Tools {
    Read(ReadFile, String),
    Nothing,
}

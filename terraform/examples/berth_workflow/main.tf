resource "berth_workflow" "example" {
  name = "load"
  definition = jsonencode({
    deadline = "120m"
    nodes = {
      extract = { task = { run = { command = { argv = ["extract"] } } } }
      load    = { after = ["extract"], task = { run = { command = { argv = ["load"] } } } }
    }
  })
}

resource "berth_workflow" "example" {
  name = "load"
  definition = jsonencode({
    deadline = "120m"
    nodes = {
      extract = { task = { run = { command = { argv = ["extract"], env = { REGION = { "$input" = "/region" } } } } } }
      load    = { after = ["extract"], task = { run = { command = { argv = ["load"] } } } }
    }
  })
}
resource "berth_schedule" "of_workflow" {
  name     = "nightly-load"
  timing   = { specs = [{ cron = "0 1 * * *" }] }
  workflow = { name = berth_workflow.example.name, input = jsonencode({ region = "eu" }) }
}

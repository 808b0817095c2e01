resource "berth_plan" "gpu" {
  name = "gpu"
}

resource "berth_pool" "example" {
  name            = "gpu"
  command_network = true
  max_executor    = { cpu_millis = 64000 }
  granted_to      = { plans = [berth_plan.gpu.name] }
}

resource "berth_plan" "small" {
  name          = "small"
  running_tasks = 5
}

resource "berth_tenant" "example" {
  name = "Example Corp"
  plan = berth_plan.small.name

  # Only so that the example can be destroyed: leave it out.
  deletion_protection = false
}

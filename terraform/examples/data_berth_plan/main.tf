data "berth_plan" "default" {
  name = "default"
}

output "running_tasks" {
  value = data.berth_plan.default.running_tasks
}

resource "berth_plan" "example" {
  name          = "team"
  running_tasks = 50
  schedules     = 20
  weight        = 2.5
}

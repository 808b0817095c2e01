resource "berth_concurrency_limit" "example" {
  key     = "printer"
  running = 3
}

run "applied" {
  assert {
    condition     = berth_concurrency_limit.example.key == "printer" && berth_concurrency_limit.example.running == 3
    error_message = "The limit is another."
  }
}

run "applied" {
  assert {
    condition     = berth_tenant.example.plan == "small"
    error_message = "The tenant has another plan."
  }
}

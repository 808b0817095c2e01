run "applied" {
  assert {
    condition     = contains(berth_pool.example.granted_to.plans, berth_plan.gpu.name)
    error_message = "The plan may not use the pool."
  }
}

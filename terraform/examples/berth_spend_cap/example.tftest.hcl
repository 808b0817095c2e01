run "applied" {
  assert {
    condition     = berth_spend_cap.all.zone == "UTC" && berth_spend_cap.all.label == null
    error_message = "What is not given has no default."
  }

  assert {
    condition     = berth_spend_cap.example.amount == 20000000 && berth_spend_cap.example.version == 1
    error_message = "The cap is another, or not new."
  }
}

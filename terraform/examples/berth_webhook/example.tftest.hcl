run "applied" {
  assert {
    condition     = berth_webhook.example.version == 1 && !berth_webhook.example.paused && berth_webhook.example.workflow == null
    error_message = "The webhook is not new, or what is not given has no default."
  }

  assert {
    condition     = terraform_data.store.id != "" && startswith(file("webhook.secret"), "whsec_")
    error_message = "The secret was not handed over."
  }
}

run "applied" {
  assert {
    condition     = berth_tenant_billing.example.tenant == berth_tenant.acme.id
    error_message = "It is of another tenant."
  }

  assert {
    condition     = berth_tenant_billing.example.zone == "Europe/Berlin"
    error_message = "The zone is another."
  }
}

resource "berth_tenant" "acme" {
  name                = "Acme Billed"
  deletion_protection = false
}

resource "berth_tenant_billing" "example" {
  tenant   = berth_tenant.acme.id
  zone     = "Europe/Berlin"
  customer = "cus_0001"
  address  = "Hafenstr. 1\n20457 Hamburg"
}

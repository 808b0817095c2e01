data "berth_tenant" "demo" {
  name = "demo"
}

output "id" {
  value = data.berth_tenant.demo.id
}

// The part of ros2_control's interface that the example uses, so that it compiles without ROS. Written by gough.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rclcpp
{
struct Time {};
struct Duration {};
}  // namespace rclcpp

namespace rclcpp_lifecycle
{
struct State {};

class LifecycleNode
{
public:
  const char * get_name() const { return "feedforward_controller"; }
};
}  // namespace rclcpp_lifecycle

namespace hardware_interface
{
class CommandInterface
{
public:
  CommandInterface(const std::string & prefix, const std::string & name, double * value)
  : name_(prefix + "/" + name), value_(value)
  {
  }
  const std::string & get_name() const { return name_; }
  void set_value(double value) { *value_ = value; }

private:
  std::string name_;
  double * value_;
};
}  // namespace hardware_interface

namespace controller_interface
{
enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

class LoanedInterface
{
public:
  double value() const { return value_; }
  void set_value(double value) { value_ = value; }

private:
  double value_ = 0.0;
};

class ChainableControllerInterface
{
public:
  virtual ~ChainableControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;

  std::vector<hardware_interface::CommandInterface> export_reference_interfaces()
  {
    return on_export_reference_interfaces();
  }
  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period)
  {
    const return_type referred = update_reference_from_subscribers(time, period);
    return referred == return_type::OK ? update_and_write_commands(time, period) : referred;
  }
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }

  // what the controller manager does
  void load(std::size_t commands)
  {
    on_init();
    command_interfaces_.resize(commands);
  }
  double command(std::size_t i) const { return command_interfaces_.at(i).value(); }

protected:
  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() = 0;
  virtual return_type update_reference_from_subscribers(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &) = 0;

  std::vector<double> reference_interfaces_;
  std::vector<LoanedInterface> command_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};
}  // namespace controller_interface
